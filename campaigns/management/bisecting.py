"""What `campaign bisect` prints, and the percentage that it reads."""

from __future__ import annotations

import re
from typing import Any

from campaigns.records.values import gain_facts
from campaigns.rules.noise.bisect import BisectAnswer, BisectProbe, BisectResult
from campaigns.rules.wording import share
from campaigns.steps.rounds.bisect import BisectQuestion, BisectRefused


def percentage(text: str) -> float:
    """ "3%", "3 %" or "3" as a fraction. Raises BisectRefused."""
    found = re.fullmatch(r"(\d{1,2}(?:\.\d{1,6})?)\s*%?", text.strip(), re.ASCII)
    if found is None:
        raise BisectRefused(f"slower-than: {text!r}; accepted: 0% to 99%")
    return float(found[1]) / 100


def look_line(look: BisectProbe, good: int) -> str:
    """One measured round; the ratio names its baseline, interval and count (law 9)."""
    text = look.why
    if look.gain:
        text = look.gain.against(f"round {good}")
    return f"round {look.round}: {look.answer}: {text}"


def found_words(found: BisectResult, question: BisectQuestion) -> str:
    """What was found, in one sentence."""
    slower = f"slower than round {question.good} by more than {share(question.limit)}"
    if not found.suspects:
        last = found.probes[0]
        shown = "is not" if last.answer is BisectAnswer.BETTER else "could not be shown to be"
        return f"Round {last.round} {shown} {slower}, so there is nothing to find."
    if len(found.suspects) == 1:
        return f"Round {found.suspects[0]} is the first that is {slower}; {found.good} is not."
    listed = ", ".join(map(str, found.suspects))
    return f"One of the rounds {listed} is the first that is {slower}; {found.good} is not."


def found_facts(found: BisectResult, question: BisectQuestion) -> dict[str, Any]:
    """The same as data."""
    return {
        "campaign": question.campaign.pk,
        "good": question.good,
        "slower_than": question.limit,
        "suspects": list(found.suspects),
        "last_good": found.good,
        "looks": [
            {
                "round": look.round,
                "answer": look.answer.value,
                **gain_facts(look.gain),
                "why": look.why,
            }
            for look in found.probes
        ],
        "sentence": found_words(found, question),
    }
