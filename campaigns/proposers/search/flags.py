"""Compiler flag sets worth a try, with what they risk."""

from __future__ import annotations

from dataclasses import dataclass

from campaigns.evaluator.contract import Source


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
