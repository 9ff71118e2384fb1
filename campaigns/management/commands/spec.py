"""`spec get|cite|list|propose|review`: values with the lines they rest on, and their curation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from campaigns.management.base_command import Argument, BaseCommand, ExitCode, Exits, Verb, argument
from knowledge.curation.errors import Conflict
from knowledge.curation.propose import Proposal, submit
from knowledge.curation.review import approve, give_back
from knowledge.lookup.listing import PLATFORM_HELP, Filters, platform_named, specs_matching
from knowledge.lookup.spec_json import answer_record, spec_records
from knowledge.lookup.value import UNKNOWN
from knowledge.models import Spec, SpecState
from knowledge.specs.citation import CitationState
from knowledge.specs.cited import EvidenceClass
from knowledge.specs.facts import QUALIFIERS, UNKNOWN_VALUE, Rank, SourceKind, named_values
from knowledge.specs.metrics import MetricError

PLATFORM = argument("platform", help=PLATFORM_HELP)
METRIC = argument("metric", help="name of a metric, such as memory_bandwidth")
QUALIFIED = tuple(argument(f"--{name.replace('_', '-')}", dest=name) for name in QUALIFIERS)
QUESTION: tuple[Argument, ...] = (PLATFORM, METRIC, *QUALIFIED)
LISTED: tuple[Argument, ...] = (
    argument("--platform", default=""),
    argument("--metric", default=""),
    argument("--state", default="", help=", ".join(SpecState.values)),
    argument("--evidence", default="", help=", ".join(EvidenceClass)),
    argument("--rank", default="", help=", ".join(Rank)),
    argument("--search", dest="q", default="", help="words in metric, value, source or note"),
)
PROPOSED: tuple[Argument, ...] = (
    *(PLATFORM, METRIC),
    argument("value", help='value and unit as the source has them, such as "4.8 TB/s"'),
    argument("--cite", required=True, help="'<gpu-wiki>/docs/page.md:L23', or :L23-L25"),
    argument("--source", required=True, help="title of the source"),
    argument("--source-url", default=""),
    argument("--kind", dest="source_kind", required=True, help=", ".join(SourceKind)),
    argument("--evidence", required=True, help=", ".join(EvidenceClass)),
    argument("--why", required=True, help="is kept in the history"),
    argument("--rank", default="", help=f"{', '.join(Rank)}; else preferred where none is"),
    argument("--note", default="", help="how to obtain it, for UNKNOWN; why, for deprecated"),
    argument("--replaces", type=int, metavar="ID", help="the value that this one replaces"),
    argument("--by", metavar="USER", help="the user who proposes; default: this installation"),
    *QUALIFIED,
)
REVIEWED: tuple[Argument, ...] = (
    argument("spec", type=int, metavar="ID"),
    argument("--approve", dest="decisions", action="append_const", const="approve"),
    argument("--return", dest="decisions", action="append_const", const="return"),
    argument("--why", required=True, help="is kept in the history"),
    argument("--by", required=True, metavar="USER", help="a curator other than the author"),
)
DECISIONS: dict[str, Callable[[Spec, Any, str], Spec]] = {"approve": approve, "return": give_back}


class Command(BaseCommand):
    help = "Values with the lines they rest on: look up, list, propose and review."
    exits: ClassVar[Exits] = {MetricError: ExitCode.NOT_FOUND, Conflict: ExitCode.NOT_ALLOWED}

    def verbs(self) -> tuple[Verb, ...]:
        return (
            Verb("get", "the value and its citation; exit 4 without one", self.get, QUESTION),
            Verb("cite", "only the citation line; exit 4 without one", self.cite, QUESTION),
            Verb("list", "values of any state, one a line", self.list_all, LISTED),
            Verb("propose", "a value with its lines, for a review", self.propose, PROPOSED),
            Verb("review", "approve or return a proposal of another person", self.review, REVIEWED),
        )

    def get(self, **question: Any) -> None:
        spec, record = self._find(**question)
        self.emit(record, f"{spec.shown}\n{spec.citation}")

    def cite(self, **question: Any) -> None:
        spec, record = self._find(**question)
        self.emit(record["citation"], str(spec.citation))

    def list_all(self, **filters: str) -> None:
        found = list(specs_matching(Filters(**filters)))
        records = spec_records(found)
        lines = []
        for spec, record in zip(found, records, strict=True):
            # A mark where the citation no longer holds, so that `get` gives no answer.
            drift = _drift(record["citation"]) if record["citation"] else ""
            lines.append(f"{_line(spec)} ({drift})" if drift else _line(spec))
        self.emit(records, "\n".join(lines))

    def propose(
        self, *, platform: str, replaces: int | None, by: str | None, **fields: Any
    ) -> None:
        qualifiers = {name: value for name in QUALIFIERS if (value := fields.pop(name))}
        proposal = Proposal(
            platform=platform_named(platform),
            qualifiers=qualifiers,
            replaces=self._spec(replaces) if replaces is not None else None,
            **fields,
        )
        spec = submit(proposal, self.user(by or None))
        self.emit(spec_records([spec])[0], _line(spec))

    def review(self, *, spec: int, decisions: list[str] | None, why: str, by: str) -> None:
        if decisions is None or len(decisions) != 1:
            self.fail(ExitCode.USAGE, "decision: accepted: either --approve or --return")
        decided = DECISIONS[decisions[0]](self._spec(spec), self.user(by), why)
        self.emit(spec_records([decided])[0], _line(decided))

    def _find(self, platform: str, metric: str, **options: Any) -> tuple[Spec, dict[str, Any]]:
        """The answer, or the end of the command."""
        qualifiers = {name: options[name] for name in QUALIFIERS if options.get(name)}
        row = platform_named(platform)
        spec, record = answer_record(row, metric, qualifiers)
        if spec is not None:
            return spec, record
        how = record["how_to_obtain"]
        if citation := record["citation"]:
            self.emit(record, f"{UNKNOWN_VALUE} ({_drift(citation)})")
            self.fail(ExitCode.NO_APPROVED_VALUE, how)
        self.emit(record, UNKNOWN)
        words = f"{record['metric']} {named_values(record['qualifiers'])}".strip()
        self.fail(ExitCode.NO_APPROVED_VALUE, f"{words} of {row.slug} is unknown: {how}")

    def _spec(self, key: int) -> Spec:
        otherwise = f"{key}: no such value; `spec list` shows them"
        return self.row(Spec.objects.for_sheet(), otherwise, pk=key)


def _drift(citation: dict[str, Any]) -> str:
    """What has become of a citation; empty where it holds."""
    state = CitationState(citation["state"])
    return "" if state.holds else f"citation {state.replace('_', ' ')}"


def _line(spec: Spec) -> str:
    """One value on one line, its number first, as `review` wants it."""
    qualifiers = "".join(f" {key}={value}" for key, value in spec.qualifiers.items())
    words = f"{spec.pk:6} {spec.state:8} {spec.rank:10} {spec.platform.slug} {spec.metric}"
    cited = f" <- {str(spec.citation).partition(' <- ')[2]}" if spec.citation else ""
    return f"{words}{qualifiers}: {spec.shown}{cited}"
