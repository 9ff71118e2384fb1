"""The arguments of `campaign`'s verbs."""

from __future__ import annotations

from campaigns.findings.kinds import Kind as FindingKind
from campaigns.findings.kinds import Stance
from campaigns.management.door import argument
from campaigns.rules.ceilings import QUESTIONS
from campaigns.rules.goal import ACCEPTED

KEY = argument("campaign", type=int, help="the campaign's number")
WISH = (
    argument("--problem", required=True, help="a shipped problem or a problem folder"),
    argument("--backend", required=True, help="cpp, cuda or triton"),
    argument("--platform", help="else the platform of this host's device"),
    argument("--rounds", type=int, default=20, help="most rounds, the baseline counted"),
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
        help="accept nothing that a sanitizer of the backend did not look at",
    ),
    argument("--title", default=""),
    argument("--seed", type=int),
)


ASSUMED = (
    KEY,
    argument("question", help=", ".join(QUESTIONS)),
    argument("value", help='value and unit, such as "4 TB/s"'),
    argument("--why", required=True, help="stays beside every figure that it leads to"),
    argument("--by", required=True, metavar="USER", help="the curator or lead who allows it"),
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
