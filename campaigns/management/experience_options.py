"""The arguments of `experience`; `add` has those of the second source system, and some of ours."""

from __future__ import annotations

from pathlib import Path

from campaigns.management.base_command import Argument, argument
from campaigns.management.import_command import BY
from knowledge.experience.readers.drafts import NAMED
from knowledge.experience.writers.selection import OUTCOMES
from knowledge.models import EntryStanding

METRICS = {
    "memory-sol": "memory_sol",
    "sm-sol": "sm_sol",
    "latency": "latency_ms",
    "occupancy": "occupancy",
}
UNITS = {"latency": "in ms"}
WHY = argument("--why", default="", help="is kept in the history")
KERNEL = argument("--kernel", default="", help="operation, such as matmul or layernorm")
BACKEND = argument("--backend", default="", help="triton, cuda, hip, cpp, …")
CHIP = argument("--chip", default="", help="sm_90, gfx942, or a platform's name")
DTYPE = argument("--dtype", default="", help="such as float16")
BOTTLENECK = argument("--bottleneck", default="", help="memory, compute, latency, …")
PLATFORM = argument("--platform", default="", help="slug of a platform of the wiki")

ADD: tuple[Argument, ...] = (
    *(KERNEL, BACKEND, CHIP, PLATFORM, DTYPE, BOTTLENECK),
    argument("--dims", default="", help='"N=4096 D=4096" or "1024x1024x1024"'),
    argument("--iteration", "-i", default="", help="version there, such as v2"),
    argument("--stall", default="", help="the dominant stall"),
    *(
        argument(f"--{name}-{when}", type=float, help=f"{when} it, {UNITS.get(name, 'in %%')}")
        for when in ("before", "after")
        for name in METRICS
    ),
    argument("--optimization", "-o", default="", help="name, or name{param=value}"),
    argument("--hypothesis", default=""),
    argument("--outcome", required=True, help="success, neutral, failure, incorrect, …"),
    argument("--notes", default=""),
    argument("--gain", type=float, help="0.05 for 5 %% faster, where there are no latencies"),
    argument("--param", dest="params", action="append", metavar="NAME=VALUE"),
    argument("--keep", action="append", metavar="FIELD",
             help=f"store a name that nothing knows as it is: {', '.join(NAMED)}"),
    BY,
)  # fmt: skip
RECOMMEND = (
    *(KERNEL, BACKEND, CHIP, PLATFORM, BOTTLENECK, DTYPE),
    argument("-n", dest="limit", type=int, default=5, help="at most so many; default: 5"),
)
SEARCH = (
    argument("query", nargs="*", help="words; a facet may be among them, as op:matmul"),
    *(
        argument(f"--{name}", default="")
        for name in ("op", "dtype", "backend", "platform", "arch", "symptom", "outcome", "kind")
    ),
    argument("-n", dest="limit", type=int, default=5, help="of each kind; default: 5"),
)
SELECTED = (
    *(KERNEL, BACKEND, PLATFORM, DTYPE, BOTTLENECK),
    argument("--strategy", default=""),
    argument("--outcome", default="", help=", ".join(OUTCOMES)),
)
LIST = (
    *SELECTED,
    argument("--standing", default="", help=", ".join(EntryStanding.values)),
    argument("--limit", type=int, default=50, help="the newest; default: 50"),
)
MERGE = (
    argument("--groups", nargs="+", metavar="UUIDS", help='"uuid,uuid" for each group'),
    argument("--into", metavar="UUID", help="who stands for a group; default: the best measured"),
    argument("--decide", default="", help="why they are one although their outcomes are opposite"),
    argument("--undo", metavar="UUID", help="take this one out of its merge"),
    *(WHY, BY),
)
SYNC = (argument("--out", type=Path, help="also write experience.md, .json and .csv there"),)
ANSWER = argument(
    "--answer", dest="answers", action="append", metavar="NAME=OURS",
    help="what an unknown name is called here; NAME== keeps it as it is",
)  # fmt: skip
KEEP_OTHERS = argument(
    "--keep", dest="keep_others", action="store_true", help="keep every other unknown name as it is"
)
IMPORT = (
    argument("path", type=Path, help="a file, a folder or a .zip"),
    argument("--confirm", action="store_true", help="carry it out, if nothing is open"),
    *(ANSWER, KEEP_OTHERS, BY),
)
EXPORT = (
    argument("--format", dest="form", choices=("json", "csv", "md"), default="json"),
    argument("--out", type=Path, help="a file; default: stdout"),
    *SELECTED,
)
TIPS = (
    *(KERNEL, BACKEND, CHIP, PLATFORM, DTYPE),
    argument("-n", dest="limit", type=int, default=5, help="at most so many; default: 5"),
)
