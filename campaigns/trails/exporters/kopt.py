"""trail.json: the campaign and its closed rounds as records, for `campaign import` to read back.

The other files say the same in the words of other systems; this one loses nothing of the numbers.
The seed is left out, as the rounds that are still to come are checked on inputs drawn from it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from campaigns.records.values import campaign_value, round_value, verdict_value
from campaigns.trails.exporters.judged_rounds import ExportedCampaign, ExportedRound

NAME = "trail.json"
FORMAT = 1


def record_files(trail: ExportedCampaign) -> Iterator[tuple[str, str]]:
    """(path, text) of the one file."""
    campaign = trail.campaign
    known: dict[str, Any] = msgspec.to_builtins(campaign_value(campaign))
    guard = known.pop("intake")["guard"]
    del known["campaign"]
    known |= {
        "guard": guard,
        "stop_policy": campaign.stop_policy,
        "protocol": campaign.protocol.rules,
        "noise": campaign.noise,
        "result": campaign.result,
        "incumbent": trail.best.number if trail.best else None,
    }
    rounds = [_round(one) for one in trail.rounds]
    whole = {"kopt_trail": FORMAT, "campaign": known, "rounds": rounds}
    yield NAME, json.dumps(whole, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def _round(one: ExportedRound) -> dict[str, Any]:
    known: dict[str, Any] = msgspec.to_builtins(round_value(one.round))
    del known["campaign"], known["state"]
    code = one.candidate
    source = code and {
        "file": one.snapshot,
        "label": code.label,
        "flags": code.flags,
        "params": code.params,
        "sha256": code.digest,
    }
    return known | {
        "candidate_us": one.time_us,
        "incumbent_us": one.incumbent_us,
        "verdict": msgspec.to_builtins(verdict_value(one.verdict)) if one.verdict else None,
        "outcome": one.evaluation.outcome if one.evaluation else None,
        "candidate": source,
        "commit": one.commit.sha if one.commit else None,
        "masked": one.masked,
    }
