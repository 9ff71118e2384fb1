"""kopt's own trail, by its trail.json: every number as it was recorded."""

from __future__ import annotations

import re
from collections.abc import Mapping

from campaigns.rules.verdict.decision import VerdictWord
from campaigns.trails.exporters.kopt import FORMAT, NAME
from campaigns.trails.importers.claims import (
    FORMATS,
    ClaimedCampaign,
    ClaimedRound,
    System,
    lacking,
    named,
)
from campaigns.trails.importers.documents import LinedDocument, read_json
from campaigns.trails.importers.markdown_reader import tips_of
from knowledge.exchange.formats import Format

METRIC = "time per call"
CONVENTION = (
    "geometric mean over the cases of the time per call on the judge's clock, in µs, of that "
    "installation's device; lower is better"
)
WORDS = tuple(VerdictWord)


def read(files: Mapping[str, str]) -> ClaimedCampaign:
    """The whole trail. Raises TrailRefused."""
    sheet = read_json(NAME, files[NAME])
    if sheet.get("kopt_trail") != FORMAT:
        raise sheet.error("kopt_trail", str(FORMAT))
    if sheet.get("rounds") is None:
        raise sheet.error("rounds", "a list of objects")
    parts = [sheet.part("rounds", n) for n, _ in enumerate(sheet.list("rounds"))]
    best = sheet.number("campaign.incumbent")
    names = ("title", "operator", "platform", "backend")
    about = {name: sheet.text(f"campaign.{name}") for name in names}
    for name, value in about.items():
        if not value:
            raise sheet.error(f"campaign.{name}", "a text")
    stopped = sheet.text("campaign.stop_sentence") or sheet.text("campaign.stop_reason")
    return ClaimedCampaign(
        System.KOPT,
        tuple(_round(part, files) for part in parts),
        title=about["title"],
        operator=about["operator"],
        platform=about["platform"],
        backend=about["backend"],
        incumbent=f"round {best:g}" if best is not None else "",
        stop_reason=stopped,
        claims=tuple(one for one in sheet.claims if one.field.startswith("campaign.")),
        missing=lacking([("incumbent", best), ("stop reason", stopped)]),
        tips=tuple(tips_of("tips.md", files.get("tips.md", ""))),
    )


def _round(part: LinedDocument, files: Mapping[str, str]) -> ClaimedRound:
    number = part.number("number")
    if not isinstance(number, int) or number < 1:
        raise part.error("number", "a round's number, from 1")
    word = part.word("verdict.word", WORDS)
    for name in ("gain", "gain_low", "gain_high", "pairs"):
        part.number(f"verdict.{name}")
    kernel = part.text("candidate.file")
    if kernel and kernel not in files:
        raise part.error("candidate.file", "a file of this trail")
    # Before, it was another quantity: derived from the gains of all rounds until then.
    place = "candidate_us" if "candidate_us" in part.value else "time_us"
    time = part.number(place)
    known = {"verdict": word, place: time, "source": kernel, "commit": part.text("commit")}
    return ClaimedRound(
        name=f"round {number}",
        path=NAME,
        line=part.line(place),
        number=number,
        title=part.text("hypothesis.title"),
        hypothesis=part.text("hypothesis.change") or part.text("hypothesis.title"),
        rationale=part.text("hypothesis.rationale"),
        status=word,
        kept=word == VerdictWord.ACCEPTED if word else None,
        masked=part.flag("masked"),
        figure=time,
        unit="µs",
        metric=METRIC,
        convention=CONVENTION,
        kernel=kernel,
        at=part.text("closed_at"),
        claims=part.claims,
        missing=lacking(known.items()),
    )


FORMATS.append(Format(System.KOPT, NAME, named(re.escape(NAME)), read))
