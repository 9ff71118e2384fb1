"""The first kernel of a problem that has none, from what torch's Inductor makes of its reference.

Inductor runs in the sandbox, as the reference does. What it writes becomes an ordinary source file,
and that a candidate like any other.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import version

from campaigns.devices.problem_code import inductor_text
from campaigns.devices.processes import tempdir
from campaigns.evaluator.contract import Case, Source
from campaigns.evaluator.contract.problem import ProblemError
from campaigns.models import Campaign
from campaigns.models.event import record
from campaigns.proposers.base import Attempt, Variant
from campaigns.proposers.first.cpp import cpp_source
from campaigns.proposers.first.module import NotPrinted
from campaigns.proposers.first.triton import triton_source
from campaigns.proposers.search.ideas import FIRST
from campaigns.steps.problems import materialise

NO_FIRST = "no_first_kernel"
PRINTERS = {"cpp": cpp_source, "triton": triton_source}
# What hostile text can make a reader of text raise.
UNREAD = (SyntaxError, ValueError, TypeError, LookupError, RuntimeError, MemoryError)


def first_kernel(campaign: Campaign, history: Iterable[Attempt]) -> Variant | None:
    """None where it was tried, or there is none; then an event says why, once."""
    if campaign.backend not in PRINTERS or any(one.strategy == FIRST for one in history):
        return None
    label = f"Inductor {version('torch')}"
    try:
        source = _printed(campaign, f"Made by torch {label} from the reference of ")
    except (ProblemError, NotPrinted) as error:
        why = f"{error}"
    except UNREAD:
        why = "what Inductor wrote cannot be read"
    else:
        return Variant(label, source, {"compiler": label})
    if not campaign.events.filter(kind=NO_FIRST).exists():
        record(campaign, NO_FIRST, f"no first kernel from {label}: {why}")
    return None


def _printed(campaign: Campaign, note: str) -> Source:
    """note: where the kernel comes from, without the problem. Raises ProblemError, or of UNREAD."""
    rows, problem = [*campaign.case_rows], campaign.problem
    # Another case tells sides of equal size apart.
    others = [row for row in problem.cases.all() if row.params != rows[0].params]
    case, other = (Case(row.name, row.params) for row in (rows[0], [rows[0], *others][-1]))
    target = campaign.platform.target if campaign.backend == "triton" else ""
    with tempdir("first") as folder:
        found = inductor_text(materialise(problem, folder), case, other, target)
    return PRINTERS[campaign.backend](found.text, found.inputs, f"{note}{problem.slug}.")
