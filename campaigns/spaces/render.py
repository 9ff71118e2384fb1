"""Write a point into the source that its space was found in: numbers, and the compiler's flags."""

from __future__ import annotations

from dataclasses import dataclass, replace

from campaigns.evaluator.contract import Source
from campaigns.spaces.space import Point, Space
from campaigns.syntax.edits import Edit, edited

# The name of the knob that chooses among them.
FLAGS = "flags"


@dataclass(frozen=True, slots=True)
class FlagSet:
    """Flags that belong together. risk: empty when they keep the arithmetic as written."""

    label: str
    flags: tuple[str, ...]
    risk: str = ""


FLAG_SETS: dict[str, tuple[FlagSet, ...]] = {
    "cpp": (
        FlagSet("optimise harder", ("-O3",)),
        FlagSet("for this processor", ("-O3", "-march=native")),
        FlagSet("unrolled", ("-O3", "-march=native", "-funroll-loops")),
        FlagSet("whole vectors", ("-O3", "-march=native", "-mprefer-vector-width=512")),
    ),
    "cuda": (FlagSet("optimise harder", ("-O3",)),),
}

RISKY_FLAG_SETS: dict[str, tuple[FlagSet, ...]] = {
    "cpp": (
        FlagSet(
            "relaxed arithmetic",
            ("-O3", "-march=native", "-ffast-math"),
            "-ffast-math reorders sums, assumes that no NaN or infinity occurs and flushes "
            "denormals in the whole process.",
        ),
    ),
    "cuda": (
        FlagSet(
            "relaxed arithmetic",
            ("--use_fast_math",),
            "--use_fast_math replaces division, square root and exponentials by approximations.",
        ),
    ),
}


def with_flags(source: Source, extra: FlagSet) -> Source | None:
    """The source with the flags it lacks added at the end; None when it has them all."""
    lacking = tuple(flag for flag in extra.flags if flag not in source.flags)
    if not lacking:
        return None
    return Source(name=source.name, text=source.text, flags=source.flags + lacking)


def flag_choices(source: Source, backend: str, *, relaxed: bool) -> tuple[str, tuple[str, ...]]:
    """The present choice and all that there are: for each set its flags as one text.

    The present choice is those of the source's flags that any set speaks of; the first of all is
    to have none of them. relaxed: with the sets that change the arithmetic.
    """
    safe, risky = FLAG_SETS.get(backend, ()), RISKY_FLAG_SETS.get(backend, ())
    known = {flag for one in (*safe, *risky) for flag in one.flags}
    present = " ".join(flag for flag in source.flags if flag in known)
    listed = (" ".join(one.flags) for one in (*safe, *(risky if relaxed else ())))
    return present, tuple(dict.fromkeys(("", *listed, present)))


def render(source: Source, space: Space, point: Point) -> Source:
    """The source at a point: every other byte as it was, and at the defaults the very source.

    Raises ValueError for a point that is not in the space.
    """
    if refused := space.is_legal(point):
        raise ValueError(refused)
    edits, flags = [], source.flags
    for knob in space.knobs:
        value = point[knob.name]
        for site in knob.sites:
            is_due = site.when is None or point[site.when[0]] == site.when[1]
            if is_due and value != site.says:
                edits.append(Edit(site.start, site.end, site.form.replace("{}", repr(value))))
        # Only the compiler's flags stand nowhere in the text.
        if not knob.sites and value != knob.default:
            known = set(" ".join(map(str, knob.values)).split())
            kept = (flag for flag in source.flags if flag not in known)
            flags = (*kept, *str(value).split())
    return replace(edited(source, edits), flags=flags)
