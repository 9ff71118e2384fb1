"""The first kernel of a problem that has none, from what torch's Inductor makes of its reference.

Inductor runs in the sandbox, as the reference does. What it writes becomes an ordinary source file,
and that a candidate like any other.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import version

from campaigns.devices.problem_code import inductor_text
from campaigns.devices.processes import tempdir
from campaigns.evaluator.contract import Case
from campaigns.evaluator.contract.problem import ProblemError
from campaigns.models import Campaign
from campaigns.models.event import record
from campaigns.proposers.base import Attempt, Variant
from campaigns.proposers.first.cpp import cpp_source
from campaigns.proposers.first.module import NotPrinted
from campaigns.proposers.search.ideas import FIRST
from campaigns.steps.problems import materialise

NO_FIRST = "no_first_kernel"
PRINTERS = {"cpp": cpp_source}


def first_kernel(campaign: Campaign, history: Iterable[Attempt]) -> Variant | None:
    """None where it was tried, or there is none; then an event says why, once."""
    printer = PRINTERS.get(campaign.backend)
    if printer is None or any(attempt.strategy == FIRST for attempt in history):
        return None
    rows = [*campaign.case_rows]
    others = [row for row in campaign.problem.cases.all() if row.params != rows[0].params]
    case, other = (Case(row.name, row.params) for row in (rows[0], [rows[0], *others][-1]))
    label = f"Inductor {version('torch')}"
    try:
        with tempdir("first") as folder:
            found = inductor_text(materialise(campaign.problem, folder), case, other)
        note = f"Made by torch {label} from the reference of {campaign.problem.slug}."
        source = printer(found.text, found.inputs, note)
    except (ProblemError, NotPrinted) as error:
        if not campaign.events.filter(kind=NO_FIRST).exists():
            record(campaign, NO_FIRST, f"no first kernel: {error}")
        return None
    return Variant(label, source, {"compiler": label})
