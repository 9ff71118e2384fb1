"""How the text templates write what is recorded: filters, each of use to all formats.

`said` and `told` keep a text from being Markdown; `plain` keeps it from being a link or a mention,
too. A look-up through something that is not there gives "" to a filter, not None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from django import template

from campaigns.profiles.kernel_profile import KernelProfile
from campaigns.profiles.metrics import metric_of, metric_words
from campaigns.records.campaigns import stop_policy_of
from campaigns.records.cases import dispatch_of
from campaigns.records.verdicts import classes_of
from campaigns.reports.baselines import NONE as NO_TORCH
from campaigns.reports.baselines import baseline_lines
from campaigns.reports.sheet import BASELINE
from campaigns.reports.totals import Trend, audit_of, copies_of, trend_of
from campaigns.rules import wording
from campaigns.rules.verdict.decision import VerdictWord
from campaigns.rules.verdict.report_words import function_words
from campaigns.trails.exporters.judged_rounds import limit_words
from campaigns.trails.exporters.markdown import NOTHING, fenced, said, told
from knowledge.exchange.writers.markdown import link as link_to
from knowledge.exchange.writers.markdown import plain

register = template.Library()


def known(write: Callable[[Any], str], none: str = NOTHING) -> Callable[[Any], str]:
    """The same for a value that may be missing. none: what then stands there."""
    return lambda value: none if value in (None, "") else write(value)


def rival(number: int | None) -> str:
    """What a round was measured against, by its number."""
    return BASELINE if number in (None, 1) else f"round {number}"


def metrics(kernel: KernelProfile) -> Iterator[tuple[str, str, str]]:
    """Each counter of a kernel: its name, its value and its meaning."""
    for name, value in kernel.values.items():
        words = metric_words(name, value, kernel.vendor)
        yield metric_of(name, kernel.vendor).counter, f"{value:,.6g}", words


FILTERS: Mapping[str, Callable[..., Any]] = {
    # Text.
    "said": said,
    "told": told,
    "plain": plain,
    "one_line": lambda text: " ".join(text.split()) or NOTHING,
    "fenced": lambda code: "\n".join(fenced(code.text, code.file_name.rpartition(".")[2])),
    "listed": lambda values: ", ".join(map(str, values)),
    # Numbers. A time of 0 is not known either.
    "amount": wording.amount,
    "change": wording.change,
    "share": wording.share,
    "us": lambda value, none=NOTHING: wording.known_duration(value or None, none),
    "digits": known(wording.digits),
    "error": known("{:.3g}".format),
    "rate": known("{:.3f}".format, "-"),
    "sizes": known(lambda sizes: "×".join(map(str, sizes))),
    "utc": lambda at: f"{at:%Y-%m-%d %H:%M}",
    # Comparisons; a gain with what law 9 asks for: baseline, interval and count.
    "gain": lambda gain, against: gain.against(against) if gain else "not compared",
    "rival": rival,
    "share_of": lambda floor, time: wording.share(floor / time) if floor and time else "UNKNOWN",
    # Records read further.
    "at": lambda values, key: values.get(key),
    "limit": lambda found: limit_words(found.profiled, found.note),
    "kernels": lambda found: zip(found.kernels, found.launches, strict=True),
    "metrics": metrics,
    "function_words": function_words,
    "decision": VerdictWord.told,
    "stop_policy_of": stop_policy_of,
    "dispatch_of": dispatch_of,
    "classes_of": classes_of,
    "trend_of": trend_of,
    "of": Trend.of,
    "audit_of": audit_of,
    "copies_of": copies_of,
    "baseline_lines": baseline_lines,
}
register.filters.update(FILTERS)


@register.simple_tag
def no_torch() -> str:
    """Why nothing was measured of torch."""
    return NO_TORCH


@register.simple_tag(takes_context=True)
def link(context: template.Context, address: str, *words: object) -> str:
    """A link with its host to an address of this server, which reads as the words together."""
    return link_to("".join(map(str, words)), context["site"](address))
