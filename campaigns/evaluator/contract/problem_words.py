"""The words that problem.toml accepts, and what is tried of an operator whose rows are grouped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from math import ceil

from campaigns.evaluator.contract.problem import INTERPRETER, USUAL_SETS

# How the rows of a grouped operator are spread over its groups, and what has to be tried (R22). A
# kernel that is quick where every group has as many rows may be slow, or wrong, where one group has
# most of them and another none. `setup`, `reference`'s inputs and `work` are made for one: they get
# its name under this key, and `setup` says beside inputs and outputs, as `group_sizes`, how many
# rows each group has, which is held against the name.
PARAM = "distribution"
SKEWED, EMPTY = "half_in_one", "empty_group"
# Even; two groups a row with no room to spare; one group a row with a quarter to spare; at least
# half of all rows in one group; at least one group without any.
DISTRIBUTIONS = ("uniform", "k2_cf1.0", "k1_cf1.25", SKEWED, EMPTY)
# Words of an `op` that say that it is grouped, whatever the problem declares.
GROUPED_WORDS = frozenset(("grouped", "ragged", "moe", "varlen"))
SCHEMA = 1
DEVICE_KINDS = ("cpu", "gpu")
CASE_KINDS = (*DEVICE_KINDS, INTERPRETER)
DIRECTIONS = ("forward", "backward")
REFRESHES = ("setup", "shift")
# The precision that an answer has to have. tfloat32: float32 tensors whose products may be in TF32.
# A float8: answers in a longer float whose products are of float8.
DTYPES = (
    *("float64", "float32", "tfloat32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"),
    *("int64", "int32", "int16", "int8", "uint8"),
)
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.=,x-]{0,79}")
REQUIRED = {"name": str, "title": str, "op": str, "dtype": str}
OPTIONAL = {
    *("schema", "summary", "refresh", "config_class", "files", "flags", "tolerance", "case"),
    *("accumulate", "check", "weights", "representative", "grouped", "library"),
}
TOLERANCES = ("atol", "rtol", "norm")
# More steps than that are a lower precision, not another way to round.
MOST_STEPS = 4
BITS = ("float8_e4m3fn", "float8_e5m2")
CHECKS = ("sets", "free", "align")
OF_A_CASE = ("name", "on", "params", "protected", "step", "direction", PARAM)
SETS = (*USUAL_SETS, "shifted")
# What base addresses may be multiples of in a check, in bytes.
ALIGNMENTS = (1, 2, 4, 8, 16, 32, 64, 128, 256)


def distribution_of(params: Mapping[str, object]) -> str:
    """The distribution of a case, "" without one."""
    return str(params.get(PARAM, ""))


def is_grouped(op: str, declared: object) -> bool:
    """Whether rows of this operator belong to groups of different sizes."""
    return declared is True or bool(GROUPED_WORDS & set(op.lower().replace("-", "_").split("_")))


def missing(found: Iterable[str]) -> tuple[str, ...]:
    """The distributions that a grouped operator is not tried on."""
    known = set(found)
    return tuple(name for name in DISTRIBUTIONS if name not in known)


def complaint(name: str, sizes: object) -> str:
    """Why rows per group are not of this distribution; "" where they are."""
    if not isinstance(sizes, Sequence) or not sizes or not all(_is_count(n) for n in sizes):
        return f"{sizes!r:.60}; needed: a list with how many rows each group has"
    mean = sum(sizes) / len(sizes)
    wanted = {
        "uniform": (max(sizes) - min(sizes) <= 1, "as many rows in each group, but for one"),
        "k2_cf1.0": (max(sizes) <= ceil(mean), "no group above the mean"),
        "k1_cf1.25": (max(sizes) <= ceil(1.25 * mean), "no group above 1.25 times the mean"),
        SKEWED: (2 * max(sizes) >= sum(sizes) > 0, "at least half of all rows in one group"),
        EMPTY: (min(sizes) == 0 < max(sizes), "at least one group without rows"),
    }
    holds, words = wanted[name]
    return "" if holds else f"{list(sizes)!r:.60} is not {name}; needed: {words}"


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
