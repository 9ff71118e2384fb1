"""Arena layout: each arm has one arena, in which the slots of one case at a time are laid out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import torch

from campaigns.evaluator.contract import Case, Outcome, Param, Phase
from campaigns.evaluator.contract.errors import CandidateError, ProblemError
from campaigns.evaluator.contract.layout import Layout, Shift
from campaigns.evaluator.contract.memory_plan import CaseNeed, DoesNotFit, plan_memory
from campaigns.evaluator.contract.report import MEMORY
from campaigns.evaluator.judge.correctness.arena import Arena, Slots
from campaigns.evaluator.judge.correctness.case_check import BATCH
from campaigns.evaluator.judge.correctness.case_context import Answers, CaseContext
from campaigns.evaluator.judge.correctness.fresh_inputs import InputSupply
from campaigns.evaluator.judge.correctness.one_pass import passes_for
from campaigns.evaluator.judge.correctness.output_comparison import Tolerance
from campaigns.evaluator.judge.correctness.tolerance import of_usual_size, tolerances
from campaigns.evaluator.judge.integrity.channel import RunnerChannel
from campaigns.evaluator.judge.integrity.cold_caches import cooling
from campaigns.evaluator.judge.integrity.device_quiescence import DeviceQuiescence
from campaigns.evaluator.judge.progress import JudgeTask
from campaigns.evaluator.judge.timing.schedule import calls_to_prove
from campaigns.evaluator.reference.reference import Reference
from campaigns.evaluator.wire import Ask

if TYPE_CHECKING:
    from campaigns.evaluator.contract.problem import ProblemSpec

# The share of the last-level cache that a warm burst's slots may take: other data needs the rest.
WARM_SHARE = 0.25


class ArenaLayout:
    """Arenas by arm, and the layouts of a job's cases.

    Raises ProblemError where a weight of problem.toml is not an input.
    """

    def __init__(
        self,
        task: JudgeTask,
        spec: ProblemSpec,
        reference: Reference,
        quiescence: DeviceQuiescence | None,
    ) -> None:
        job, self._progress = task.job, task.progress
        self._job = job
        self._spec, self._reference, self._quiescence = spec, reference, quiescence
        self._device = torch.device(job.device)
        # Before the examples are there from which the layouts come.
        self._free, self._cache_bytes = task.aids.memory(self._device)
        self.layouts = {c.name: reference.layout(c, job.device) for c in job.cases}
        inputs = {arg.name for layout in self.layouts.values() for arg in layout.inputs}
        for name in spec.weights:
            if name not in inputs:
                words = f"weights: {name!r} is no tensor that is only read; accepted: "
                listed = ", ".join(sorted(inputs))
                raise ProblemError(f"{spec.folder.name}/problem.toml: {words}{listed}")
        dtypes = {arg.dtype for layout in self.layouts.values() for arg in layout.tensors}
        wanted = [getattr(torch, dtype) for dtype in sorted(dtypes)]
        self._passes = passes_for(self._device, wanted, reference.note, task.aids.faster)
        limits, arms = job.protocol.limits, job.arms.values()
        builds = any(task.aids.backend(name).builds_in_calls(source) for name, source in arms)
        # The most seconds of a call.
        self.call_s = max(limits.call_s, limits.build_s) if builds else limits.call_s
        self._arenas: dict[str, Arena] = {}
        self._tolerances: dict[tuple[tuple[str, Param], ...], Mapping[str, Tolerance]] = {}
        # Seconds that inputs and reference of one call take, by case.
        self._proofs_s: dict[str, float] = {}
        self._cool = cooling(self._device, self._cache_bytes)

    def share(self, channels: Mapping[str, RunnerChannel]) -> None:
        """Plan the memory, and give each runner its arena; it locks itself down after this.

        Raises CandidateError where a case does not fit: that says nothing of any candidate.
        """
        protocol = self._job.protocol
        self._reference.release()
        try:
            plan = self._plan = plan_memory(
                [CaseNeed.of(layout) for layout in self.layouts.values()],
                self._free,
                protocol,
                arms=len(channels),
                on_gpu=self._device.type == "cuda",
                shift=self._spec.refresh == "shift",
            )
        except DoesNotFit as error:
            raise CandidateError(Outcome.NOT_JUDGED, Phase.START, f"{error}") from None
        self._progress.environment[MEMORY] = plan.words
        self._reference.can_be_raised = plan.can_be_raised
        for name, channel in channels.items():
            arena = self._arenas[name] = Arena(plan.arena, self._device)
            gate = [channel.gate.fd] if channel.gate else []
            channel.ask(Ask.ATTACH, arena.handle, protocol.limits.load_s, [*arena.fds, *gate])

    def most(self, layout: Layout) -> int:
        """How many slots of this layout there are."""
        return self._plan.slots(layout.stride, self._job.protocol.max_slots)

    def most_warm(self, layout: Layout) -> int:
        """How many slots stay in the last-level cache together."""
        return int(WARM_SHARE * self._cache_bytes) // layout.stride

    def most_proven(self, context: CaseContext) -> tuple[int, str]:
        """How many calls can be proven in time, the same for all arms; and why not all."""
        proof_s, fewer = self.proof(context)
        few = fewer < self.most(context.layout)
        return fewer, f"{proof_s:.2g} s of inputs and reference for each" if few else ""

    def proof(self, context: CaseContext) -> tuple[float, int]:
        """Seconds that the proof of a call takes, and how many calls can be proven in time."""
        name = context.case.name
        if name not in self._proofs_s:
            # The third time a reference on a GPU may be replayed, as it is in bursts.
            tries = 3 if self._device.type == "cuda" else 2
            self._proofs_s[name] = min(context.proof_s() for _ in range(tries))
        return self._proofs_s[name], calls_to_prove(self.most(context.layout), self._proofs_s[name])

    def slots(self, channel: RunnerChannel, layout: Layout, most: int | None = None) -> Slots:
        """The slots of an arm; its runner does not know them yet. most: None for all that fit."""
        count = self.most(layout) if most is None else most
        return self._arenas[channel.name].slots(layout, count)

    def tell(self, channel: RunnerChannel, case: Case, slots: Slots) -> None:
        """Have a runner work on these slots from now on."""
        channel.case = case.name
        channel.ask(Ask.CASE, (slots.layout, slots.count), self._job.protocol.limits.load_s)

    def lay(
        self, channel: RunnerChannel, case: Case, layout: Layout, most: int | None = None
    ) -> tuple[CaseContext, Slots]:
        """Lay out a case for a runner: what judges its calls, and the slots.

        most: the fewer, the faster, as a runner binds its arguments to each.
        """
        fit = self.most(layout)
        slots = self.slots(channel, layout, min(fit, most or fit))
        self.tell(channel, case, slots)
        return self.context(case, slots), slots

    def lay_near(
        self, channel: RunnerChannel, case: Case, shift: Shift | None
    ) -> tuple[CaseContext, Slots] | None:
        """Lay out a declared case with shifted addresses, or a hidden case near it.

        None where its slots do not fit. Raises BadReference where the problem refuses the case.
        """
        layout = self._reference.layout(case, self._job.device, shift)
        if case not in self._job.cases:
            self._reference.first(case, self._job.device)
        return self.lay(channel, case, layout, BATCH) if self.most(layout) >= 1 else None

    def context(self, case: Case, slots: Slots) -> CaseContext:
        """What judges calls of a case; tolerances are the same wherever its slots lie."""
        layout = slots.layout
        context = CaseContext(
            case=case,
            layout=layout,
            reference=self._reference,
            supply=InputSupply(self._reference, case, layout, self._job.device, self._passes),
            tolerances=tolerances(self._spec, layout),
            refresh=self._spec.refresh,
            device=self._device,
            cool=self._cool,
            limit_s=self.call_s,
            quiescence=self._quiescence,
            plan=self._plan,
        )
        params = tuple(sorted(case.params.items()))
        if params not in self._tolerances:

            def draw(count: int) -> list[Answers]:
                truth = context.supply.fresh(count, "setup")
                return [context.expect(truth, k, None) for k in range(count)]

            self._tolerances[params] = of_usual_size(context.tolerances, layout, draw)
        return replace(context, tolerances=self._tolerances[params])
