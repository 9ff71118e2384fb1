"""`bench`: what measuring itself costs."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from campaigns.devices.discover import DeviceError, this_device
from campaigns.devices.hold import DeviceBusy, hold
from campaigns.devices.start_cost import StartCostError, compare_starts, to_markdown
from campaigns.evaluator.problem import ProblemError
from campaigns.management.door import Door, ExitCode, Verb, argument
from campaigns.rules.noise import LEAST_PAIRS
from campaigns.shipped import UnknownProblem, problem_folder

REPEATS = 10


class Command(Door):
    help = "What measuring itself costs."

    def verbs(self) -> tuple[Verb, ...]:
        arguments = (
            argument("--device", help="cpu or cuda:<index>; default: the one measured on"),
            argument("--problem", default="vector_add", help="shipped name or folder"),
            argument("--repeats", type=int, default=REPEATS, help=f"default: {REPEATS}"),
            argument("--out", type=Path, help="write a report here; .json or .md"),
        )
        return (Verb("evaluator", "fork against fresh interpreter", self.evaluator, arguments),)

    def evaluator(self, *, device: str | None, problem: str, **options: Any) -> None:
        repeats, out = options["repeats"], options["out"]
        if repeats < LEAST_PAIRS:
            self.fail(ExitCode.USAGE, f"--repeats {repeats}: at least {LEAST_PAIRS} are accepted")
        if out is not None and out.suffix not in (".json", ".md"):
            self.fail(ExitCode.USAGE, f"--out {out}: a name ending in .json or .md is accepted")
        try:
            found = this_device(device)
            with hold(found):
                costs = compare_starts(found, problem_folder(problem), repeats, self.progress)
        except (DeviceError, UnknownProblem) as error:
            self.fail(ExitCode.NOT_FOUND, str(error))
        except (DeviceBusy, ProblemError, StartCostError) as error:
            self.fail(ExitCode.USAGE, str(error))
        gain = costs.ratio
        ratio = {"ratio": 1 + gain.gain, "low": 1 + gain.low, "high": 1 + gain.high}
        data = asdict(costs) | ratio | {"pairs": gain.pairs}
        text = to_markdown(costs)
        if out is not None:
            out.write_text(json.dumps(data, indent=1) + "\n" if out.suffix == ".json" else text)
        self.emit(data, text.rstrip())
