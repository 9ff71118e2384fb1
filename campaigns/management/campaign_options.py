"""The arguments of `campaign`'s verbs, and what stands where none is given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from campaigns.management.base_command import argument
from campaigns.rules.stop.intake import Intake
from campaigns.rules.stop.policy import RestartPolicy, StopPolicy
from campaigns.rules.stop.proposers import USUAL as BUDGETS
from campaigns.rules.stop.proposers import ProposerKind, read_budgets, told_budgets
from campaigns.rules.target.ceilings import QUESTIONS
from campaigns.rules.target.goal import ACCEPTED
from campaigns.rules.target.roofline import LEAST_FRACTION
from campaigns.rules.verdict.case_limits import GuardPolicy
from campaigns.rules.verdict.finding_kinds import FindingKind, Stance
from campaigns.steps.problems import known_problems
from campaigns.trails.importers.claims import TrailRefused
from campaigns.trails.importers.manifest import ManifestChoices, ManifestDefaults, read_manifest
from knowledge.lookup.listing import PLATFORM_HELP
from knowledge.models import Platform

USUAL_PROPOSERS = told_budgets(read_budgets(BUDGETS))
KEY = argument("campaign", type=int, help="the campaign's number")
WISH = (
    argument("--problem", help="a problem's name, name@digest, or a problem folder"),
    argument("--backend", help="cpp, cuda or triton"),
    argument("--platform", help=f"{PLATFORM_HELP}; default: that of this host's device"),
    argument("--rounds", type=int, help="most rounds, the baseline counted; default: 20"),
    argument("--hours", type=float, help="stop after so many hours, pauses left out"),
    argument("--device-hours", type=float, help="stop after so many hours of measuring"),
    argument("--goal", type=float, help="share of the ceilings to reach, in percent; default: 90"),
    argument("--target", help=f"what to reach instead: {ACCEPTED}".replace("%", "%%")),
    argument("--case", action="append", default=[], help="a case's name; may be repeated"),
    argument(
        "--findings",
        action="append",
        default=[],
        metavar="KIND=STANCE",
        help="what becomes of a suspect construct (refused: neither built nor run); may be "
        f"repeated. KIND: {', '.join(FindingKind)}. STANCE: {', '.join(Stance)}",
    ),
    argument(
        "--own-kernel",
        action="append",
        default=[],
        metavar="NAME",
        help="a kernel of a header or macro that counts as a candidate's own; may be repeated",
    ),
    argument(
        "--require-sanitizers",
        action="store_true",
        help="accept a candidate only after a sanitizer of the backend has run",
    ),
    argument(
        "--no-baselines",
        action="store_true",
        help="do not measure torch eager, torch.compile and the library's kernel beside the best",
    ),
    argument(
        "--proposers",
        metavar="KIND[=ROUNDS],…",
        help=f"who may propose: {', '.join(ProposerKind)}, each with its most rounds where "
        f"it has a limit of its own; default: {USUAL_PROPOSERS}, and of `campaign run` search",
    ),
    argument(
        "--restart",
        choices=list(RestartPolicy),
        default=RestartPolicy.TAKE,
        help="after five rounds without a gain: restart with half of the history hidden; "
        "default: take",
    ),
    argument(
        "--guard",
        choices=list(GuardPolicy),
        help="; ".join(policy.words for policy in GuardPolicy).replace("%", "%%"),
    ),
    argument("--git-branch", help="of the accepted rounds; default: auto"),
    argument("--reference-project", help="where ideas may come from; not opened"),
    argument("--constraints", help="what the proposer has to keep to"),
    argument("--notes", help="whatever else should stay with the campaign"),
    argument("--project", default="", help="only its members, and leads, see the campaign"),
    argument("--title", default=""),
    argument("--seed", type=int),
)


FROM = (
    argument(
        "--from",
        type=Path,
        dest="manifest",
        metavar="MANIFEST",
        help="a manifest.yaml, kopt's "
        "or kernel-optimize's: its values become defaults, which are shown, and no more",
    ),
    argument("--yes", action="store_true", help="create it with the defaults of --from"),
)


ASSUMED = (
    KEY,
    argument("question", help=", ".join(QUESTIONS)),
    argument("value", help='value and unit, such as "4 TB/s"'),
    argument("--why", required=True, help="stays beside every figure that it leads to"),
    argument("--by", required=True, metavar="USER", help="the curator or lead who allows it"),
)


RESTART = (KEY, argument("--decline", action="store_true", help="continue without it"))
UNMASK = (KEY, argument("round", type=int, help="the number of a hidden round"))
REMEASURE = (
    argument(
        "campaigns",
        type=int,
        nargs="*",
        metavar="campaign",
        help="the numbers of campaigns; default: all with an accepted round",
    ),
)
BISECT = (
    KEY,
    argument("--good", type=int, default=1, help="an accepted round that is fast; default: 1"),
    argument("--bad", type=int, help="one that is slower; default: the last accepted"),
    argument("--slower-than", default="3%", help="by how much it is slower; default: 3%%"),
    argument("--case", action="append", default=[], help="a case's name; may be repeated"),
)

ONE_ROUND = argument(
    "--round",
    type=int,
    dest="number",
    metavar="K",
    help="only this round beside its incumbent, in a folder that runs by itself",
)

# What a campaign calls a value → the option that it came from, where that has another name.
CALLED = {
    "max_rounds": "--rounds",
    "max_wall_h": "--hours",
    "max_device_h": "--device-hours",
    "own_kernels": "--own-kernel",
    "proposers": "--proposers",
}

# Options that neither the command nor a manifest gave.
USUAL = {"rounds": StopPolicy().max_rounds, "proposers": USUAL_PROPOSERS, **Intake().stored}
NEEDED = ("problem", "backend")


def as_typed(error: Exception) -> str:
    """The error, with the option in place of the internal name of the field."""
    field, colon, rest = str(error).partition(": ")
    return f"{CALLED.get(field, field)}{colon}{rest}"


def goal_share(percent: float) -> float:
    """A goal in percent as a share. ValueError names the option and what is accepted."""
    least = 100 * LEAST_FRACTION
    if not least <= percent <= 100:
        raise ValueError(f"--goal: {percent:g}; accepted: {least:g} to 100 percent")
    return percent / 100


def offered_in(manifest: Path) -> ManifestDefaults:
    """The defaults of a manifest. Raises TrailRefused, FileNotFoundError."""
    try:
        text = manifest.read_text()
    except FileNotFoundError:
        raise
    except (OSError, UnicodeDecodeError) as error:
        raise TrailRefused(f"{manifest}: {error}; accepted: a manifest in UTF-8") from None
    problems = {
        one.name: (one.spec.op, tuple(case.name for case in one.spec.cases))
        for one in known_problems()
    }
    platforms = {p.slug: (p.name, *p.aliases) for p in Platform.objects.all()}
    return read_manifest(manifest.name, text, ManifestChoices(problems, platforms))


def filled(wish: dict[str, Any], found: ManifestDefaults) -> dict[str, Any]:
    """The options given, and the manifest's where none was given."""
    said = {o: default.value for o, default in found.defaults.items() if wish[o] in (None, [])}
    if wish["goal"] is not None:
        # One of the two, and the one that was typed.
        said.pop("target", None)
    return {**wish, **said}


def offer_text(wish: dict[str, Any], found: ManifestDefaults) -> str:
    """What would be created, each value with its source."""
    lines = []
    for option in OPTIONS:
        default = found.defaults.get(option)
        value = wish[option] if wish[option] not in (None, []) else USUAL.get(option)
        if value in (None, "", []):
            continue
        typed = default is None or default.value != value
        usual = value == USUAL.get(option) and default is None
        source = "the default" if usual else "typed" if typed else default.place  # type: ignore[union-attr]
        lines.append(f"{option}: {value} ({source})")
    lines += [f"not taken: {line}" for line in found.left]
    return "\n".join([*lines, "nothing is created yet; `--yes` creates it"])


OPTIONS = (
    *("problem", "backend", "platform", "case", "goal", "target", "rounds", "hours"),
    *("device_hours", *Intake().stored),
)
