"""Campaigns, rounds and events as the commands print them: plain values and lines of text."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from campaigns.models import Campaign, Event, Round, Verdict
from campaigns.pins import Pin, drift_of
from campaigns.rules.decision import Verdict as Word
from campaigns.rules.wording import change


def campaign_facts(campaign: Campaign) -> dict[str, Any]:
    """What `campaign run` and `campaign show` answer; the gain is over v0, None if not measured."""
    incumbent = campaign.incumbent
    result = campaign.result
    return {
        "campaign": campaign.pk,
        "title": campaign.title,
        "problem": campaign.problem.slug,
        "platform": campaign.platform.slug,
        "backend": campaign.backend,
        "state": campaign.state,
        "stop_reason": campaign.stop_reason,
        "stop_sentence": campaign.stop_sentence,
        "rounds": campaign.rounds.count(),
        "gain": result.get("gain"),
        "gain_low": result.get("gain_low"),
        "gain_high": result.get("gain_high"),
        "pairs": result.get("pairs"),
        "baseline": result.get("baseline"),
        "incumbent_round": incumbent.round.number if incumbent else None,
        "target": campaign.target.get("state", ""),
    }


def campaign_details(campaign: Campaign) -> dict[str, Any]:
    """What `campaign show` answers beyond that: pitfalls, assumptions, and pins as they stand."""
    drift = drift_of(campaign)
    return {
        **campaign_facts(campaign),
        "pitfalls": [
            {
                "kind": pitfall.kind,
                "message": pitfall.message,
                "how_to_obtain": pitfall.how_to_obtain,
                "at": pitfall.at.isoformat(),
            }
            for pitfall in campaign.pitfalls.all()
        ],
        "placeholders": campaign.target.get("placeholders", {}),
        "pins": [_pin_facts(pin) for pin in drift.pins],
        "would_be": {
            "words": drift.words,
            "target": drift.target,
            "would_be": drift.would_be,
            "cases": [asdict(move) for move in drift.moving],
        },
    }


def _pin_facts(pin: Pin) -> dict[str, Any]:
    successor = pin.successor
    return {
        "role": pin.role,
        "citation": pin.used.citation,
        "href": pin.used.href,
        "state": pin.state,
        "words": pin.words,
        "spec": pin.spec.pk if pin.spec else None,
        "successor": successor.pk if successor else None,
        "now": successor.shown if successor else None,
        "decided": pin.decided,
    }


def campaign_line(campaign: Campaign) -> str:
    """One line for a list."""
    return f"{campaign.pk:4} {campaign.state:10} {campaign.title}  {_result(campaign)}".rstrip()


def campaign_text(campaign: Campaign) -> str:
    """The campaign with its rounds."""
    lines = [f"campaign {campaign.pk}: {campaign.title}", f"state: {campaign.state}"]
    if campaign.stop_sentence:
        lines.append(f"ended: {campaign.stop_sentence}")
    if result := _result(campaign):
        lines.append(f"result: {result}")
    drift = drift_of(campaign)
    lines += [f"drift: {pin.words}" for pin in drift.revised]
    lines += [f"drift: {drift.words}"] if drift.words else []
    lines += [f"pitfall: {pitfall}" for pitfall in campaign.pitfalls.all()]
    rounds = campaign.rounds.select_related("verdict").order_by("number")
    return "\n".join([*lines, "", *(round_line(round_) for round_ in rounds)])


def round_line(round_: Round) -> str:
    """One line for a list of rounds."""
    verdict: Verdict | None = getattr(round_, "verdict", None)
    word = Word(verdict.word).words if verdict else "running"
    return f"{round_.number:3} {word:16} {round_.title}"


def round_facts(round_: Round) -> dict[str, Any]:
    """Everything about one round: candidates with every sample that was taken, and the verdict."""
    verdict: Verdict | None = getattr(round_, "verdict", None)
    return {
        "campaign": round_.campaign_id,
        "round": round_.number,
        "kind": round_.kind,
        "state": round_.state,
        "hypothesis": round_.hypothesis,
        "against_round": round_.against.round.number if round_.against else None,
        "candidates": [
            {
                "ordinal": candidate.ordinal,
                "label": candidate.label,
                "file": candidate.file_name,
                "flags": candidate.flags,
                "params": candidate.params,
                "digest": candidate.digest,
                "chosen": candidate.pk == round_.chosen_id,
                "outcomes": [
                    {
                        "kind": e.kind,
                        "attempt": e.attempt,
                        "outcome": e.outcome,
                        "reason": e.reason,
                        "environment": e.report.get("environment", {}),
                        "cases": e.report.get("cases", []),
                    }
                    for e in candidate.evaluations.all()
                ],
            }
            for candidate in round_.candidates.prefetch_related("evaluations")
        ],
        "verdict": _verdict_facts(verdict) if verdict else None,
    }


def round_text(round_: Round) -> str:
    """The round with its gates and cases."""
    verdict: Verdict | None = getattr(round_, "verdict", None)
    lines = [round_line(round_).strip()]
    if verdict is None:
        return lines[0]
    lines += [verdict.sentence, ""]
    for gate in verdict.gates:
        mark = {True: "passed", False: "failed", None: "–"}[gate["passed"]]
        lines.append(f"  {gate['name']:14} {mark:7} {gate['found']}  (limit: {gate['limit']})")
    lines += ["", *(case_line(case) for case in verdict.cases)]
    return "\n".join(lines)


def case_line(case: dict[str, Any]) -> str:
    """One case's time with its interval and sample count."""
    times = case["time_us"]
    if times is None:
        return f"  {case['case']:16} not timed"
    span = f"{times['low']:,.2f} to {times['high']:,.2f}"
    return f"  {case['case']:16} {times['median']:,.2f} µs ({span}, n={times['n']})"


def event_facts(event: Event) -> dict[str, Any]:
    """One event as data."""
    return {
        "at": event.at.isoformat(),
        "kind": event.kind,
        "message": event.message,
        "data": event.data,
    }


def _result(campaign: Campaign) -> str:
    """The gain over v0 with its interval and count; empty where nothing was compared."""
    result = campaign.result
    if result.get("gain_low") is None:
        return ""
    span = f"{change(result['gain_low'])} to {change(result['gain_high'])}"
    pairs = f"n={result['pairs']} pairs"
    return f"{change(result['gain'])} against v0 ({span}, {result['interval']}, {pairs})"


def _verdict_facts(verdict: Verdict) -> dict[str, Any]:
    return {
        "verdict": Word(verdict.word).words,
        "reason": verdict.reason,
        "sentence": verdict.sentence,
        "gain": verdict.gain,
        "gain_low": verdict.gain_low,
        "gain_high": verdict.gain_high,
        "pairs": verdict.pairs,
        "interval": verdict.interval_kind,
        "gates": verdict.gates,
        "cases": verdict.cases,
    }
