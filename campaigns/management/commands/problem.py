"""`problem list|show|check|new|import`: what a kernel must compute."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from campaigns.devices.problem_code import described_problem, smallest_case
from campaigns.devices.turns import turn
from campaigns.evaluator.contract.problem import ProblemError, ProblemSpec
from campaigns.evaluator.contract.problem_reader import load_problem
from campaigns.management.base_command import BaseCommand, ExitCode, Exits, Verb, argument
from campaigns.problems.import_.collection import SOLUTION, names_beside, read_collection
from campaigns.problems.import_.draft import DraftError, Given, ProblemDraft, Role
from campaigns.problems.import_.propose import propose
from campaigns.problems.shipped import shipped_folders
from campaigns.steps.problems import keep_problem, known_problems, problem_here, write_files
from campaigns.steps.propose_problem import propose_problem

T = TypeVar("T")
PROJECT = argument("--project", default="", help="only its members, and leads, see the problem")
KEPT = argument("--yes", action="store_true", help="keep it; without it the plan is shown")
FOLDER = argument("--folder", type=Path, help="write a problem folder here instead of storing it")
DEFINITION = (
    argument(
        "definition",
        type=Path,
        help="JSON of FlashInfer Trace or SOL-ExecBench; a task.yml of GPU MODE with its "
        "reference.py beside it; a tuning file (T1) of Kernel Tuner or KTT with its kernel",
    ),
    argument("--reference", type=Path, help="of a tuning file (T1): Python with the right answer"),
    argument("--workloads", type=Path, help="of a JSON: its workloads, JSON lines"),
    argument(
        "--solution",
        type=Path,
        help="a solution in Triton; default: a task's submission.py, else torch eager",
    ),
    FOLDER,
    PROJECT,
    KEPT,
)
NEW = (
    argument(
        "kernel",
        type=Path,
        nargs="?",
        help="a file: .py (Triton), .cu, .cpp, .c; without one the reference is the first to beat",
    ),
    argument("--reference", type=Path, help="a file with the right answer; default: the kernel's"),
    argument("--function", default="", help="the reference's function or nn.Module in it"),
    argument(
        "--entry",
        default="",
        help="the function that launches the kernel; of CUDA also a launch, such as "
        "'add<<<(n + 255) / 256, 256>>>'; of a template with its parameters, 'add<float>'",
    ),
    argument(
        "--call",
        action="append",
        default=[],
        help="an example call with its tensors, such as "
        '"f(torch.randn(4096, 1024), 1e-6)"; each becomes a case; default: those in the file',
    ),
    argument("--output", action="append", default=[], help="an argument that a call writes"),
    argument(
        "--keep",
        action="append",
        default=[],
        help="a size that hidden cases leave as it is, such as the width of a head",
    ),
    argument("--name", default="", help="default: the file's"),
    argument("--title", default=""),
    FOLDER,
    PROJECT,
    KEPT,
)


class Command(BaseCommand):
    help = "Problems: what a kernel must compute"
    exits: ClassVar[Exits] = {DraftError: ExitCode.USAGE}

    def verbs(self) -> tuple[Verb, ...]:
        return (
            Verb("list", "list the problems that can be chosen", self.list_known),
            Verb(
                "show",
                "show one problem as kopt reads it; runs its ref.py on its smallest case",
                self.show,
                (argument("problem", help="a problem's name or a problem folder"),),
            ),
            Verb(
                "check",
                "say what a kernel could get away with; draws the smallest case three times",
                self.check_folder,
                (argument("problem", help="a problem's name or a problem folder"),),
            ),
            Verb("new", "make a problem of a kernel and a reference", self.new, NEW),
            Verb("import", "make a problem of a definition", self.bring, DEFINITION),
        )

    def list_known(self) -> None:
        for folder in shipped_folders():
            load_problem(folder)
        found = known_problems()
        rows = [
            f"{one.name:12} {one.spec.title:20} {', '.join(sorted(one.spec.files))}"
            f"{one.project and f', project {one.project}'}"
            for one in found
        ]
        facts = [_facts(one.spec) | {"name": one.name, "project": one.project} for one in found]
        self.emit(facts, "\n".join(rows))

    def show(self, *, problem: str) -> None:
        spec, read = self._described(problem)
        self.emit(_facts(spec) | {"read": read}, "\n".join(_lines(spec, read)))

    def check_folder(self, *, problem: str) -> None:
        spec, read = self._described(problem)
        lines = [f"  note: {note}" for note in read["notes"]] or ["  nothing to note"]
        text = "\n".join([f"{spec.name}: it can be used", *lines])
        self.emit({"name": spec.name, "notes": read["notes"]}, text)

    def _described(self, problem: str) -> tuple[ProblemSpec, dict[str, Any]]:
        """The problem, and what its own code says of its smallest case."""
        try:
            spec = problem_here(problem)
            return spec, described_problem(spec.folder, smallest_case(spec))
        except ProblemError as error:
            self.fail(ExitCode.USAGE, f"problem: {error}")

    def new(self, *, folder: Path | None, yes: bool, project: str, **options: Any) -> None:
        if options["kernel"] is None and options["reference"] is None:
            self.fail(ExitCode.USAGE, "kernel: a kernel's file, or --reference, is needed")
        self._offer(lambda: propose(self._given(options)), folder, project, yes=yes)

    def bring(
        self, *, definition: Path, folder: Path | None, yes: bool, project: str, **own: Any
    ) -> None:
        self._offer(lambda: self._collected(definition, **own), folder, project, yes=yes)

    def _collected(
        self,
        definition: Path,
        reference: Path | None,
        workloads: Path | None,
        solution: Path | None,
    ) -> ProblemDraft:
        """What is asked for and what lies beside it, read as one collection."""
        text = self._text(definition)
        place = definition.resolve().parent
        files = {definition.name: text}
        for name in names_beside(definition.name, text):
            if (place / name).exists():
                files[Path(name).name] = self._text(place / name)
        if reference:
            files[reference.name] = self._text(reference)
        if workloads:
            files[f"{workloads.stem}.jsonl"] = self._text(workloads)
        if solution:
            of_task = definition.suffix in (".yml", ".yaml")
            files[SOLUTION if of_task else f"solution/{solution.stem}.json"] = self._text(solution)
        return read_collection(files, place.name)

    def _offer(
        self, read_in: Callable[[], ProblemDraft], folder: Path | None, project: str, *, yes: bool
    ) -> None:
        try:
            with turn():
                found = propose_problem(read_in())
            kept = keep_problem(found.files, project) if yes and folder is None else None
        except OSError as error:
            self.fail(ExitCode.USAGE, str(error))
        draft, files = found.draft, found.files
        facts: dict[str, Any] = {
            "problem": draft.name,
            "assumed": list(draft.assumed),
            "read": found.read,
            "notes": list(found.notes),
        }
        lines = [*draft_lines(draft, found.read), *(f"note: {note}" for note in found.notes)]
        if folder is not None and yes:
            if folder.exists() and any(folder.iterdir()):
                taken = f"--folder {folder}: is not empty; accepted: a new folder"
                self.fail(ExitCode.USAGE, taken)
            try:
                write_files(files, folder)
            except OSError as error:
                self.fail(ExitCode.USAGE, f"{error.filename}: {error.strerror}")
            lines += ["", f"written to {folder}"]
        elif kept is not None:
            facts["key"] = kept.pk
            lines += ["", f"kept; `campaign new --problem {kept.slug}` starts a campaign"]
        else:
            facts["files"] = dict(files)
            lines += ["", "nothing is kept yet; --yes keeps it"]
        self.emit(facts, "\n".join(lines))

    def _given(self, options: dict[str, Any]) -> Given:
        kernel: Path | None = options["kernel"]
        reference: Path | None = options["reference"]
        return Given(
            file_name=kernel.name if kernel else "",
            kernel=self._text(kernel) if kernel else "",
            reference_file=reference.name if reference else "",
            reference=self._text(reference) if reference else "",
            entry=options["entry"],
            function=options["function"],
            calls=tuple(options["call"]),
            outputs=tuple(options["output"]),
            keep=tuple(options["keep"]),
            name=options["name"],
            title=options["title"],
            path=kernel,
        )

    def _text(self, path: Path) -> str:
        try:
            return path.read_text(encoding="utf-8")
        except FileNotFoundError:
            self.fail(ExitCode.NOT_FOUND, f"{path}: no such file")
        except (OSError, UnicodeDecodeError) as error:
            self.fail(ExitCode.USAGE, f"{path}: {error}")


def _lines(spec: ProblemSpec, read: Mapping[str, Any]) -> list[str]:
    tolerance = spec.bounds[""]
    norm = f", norm {tolerance.norm:g}" if tolerance.norm is not None else ""
    source = "counted" if read["work"]["counted"] else "by work() in ref.py"
    lines = [f"{spec.name}: {spec.title} ({spec.dtype})", spec.summary, "", "files"]
    lines += [
        f"  {backend:8} {' '.join((name, *spec.flags.get(backend, ())))}"
        for backend, name in sorted(spec.files.items())
    ]
    lines += ["cases"]
    lines += [f"  {c.name:16} {', '.join(c.on):10} {dict(c.params)}" for c in spec.cases]
    lines += [f"arguments in case {read['case']}, in call order"]
    for arg in read["arguments"]:
        value = arg["value"] if "value" in arg else f"{arg['dtype']} {_shape(arg['shape'])}"
        lines.append(f"  {arg['name']:8} {arg['role']:10} {value}")
    lines += [f"tolerance: atol {spec.atol:g}, rtol {spec.rtol:g}{norm}"]
    return [*lines, f"{_work_words(read)} ({source})"]


def _facts(spec: ProblemSpec) -> dict[str, Any]:
    return {
        "name": spec.name,
        "title": spec.title,
        "op": spec.op,
        "dtype": spec.dtype,
        "summary": spec.summary,
        "folder": str(spec.folder),
        "files": dict(spec.files),
        "flags": {backend: list(flags) for backend, flags in spec.flags.items()},
        "tolerance": {"atol": spec.atol, "rtol": spec.rtol},
        "cases": [
            {"name": c.name, "on": list(c.on), "params": dict(c.params), "protected": c.protected}
            for c in spec.cases
        ],
    }


def draft_lines(draft: ProblemDraft, read: Mapping[str, Any]) -> list[str]:
    """A proposal in words."""
    lines = [f"{draft.name}: {draft.title} ({draft.dtype})", "arguments, in call order"]
    for arg in draft.args:
        if arg.role is Role.NUMBER:
            lines.append(f"  {arg.name:12} number     {arg.value}")
        else:
            shape = "as the reference returns it" if arg.shape is None else _shape(arg.shape)
            kind = "" if arg.shape is None else f"{arg.dtype} "
            lines.append(f"  {arg.name:12} {arg.role:10} {kind}{shape}")
    lines += ["cases", *(f"  {name}" for name in draft.cases)]
    if draft.assumed:
        lines += ["assumed", *(f"  {words}" for words in draft.assumed)]
    return [*lines, _work_words(read)]


def _work_words(read: Mapping[str, Any]) -> str:
    work = read["work"]
    operations = work["unknown"] or f"{work['operations']:,.0f} operations"
    return f"least work of case {read['case']}: {work['bytes']:,.0f} bytes, {operations}"


def _shape(shape: tuple[str | int, ...]) -> str:
    return " × ".join(map(str, shape)) or "scalar"
