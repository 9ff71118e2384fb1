"""Numbers with units: only spellings on a closed list, decimal and binary prefixes apart.

Conversion is pint's, over a registry of our own: its stock one makes bits and hertz dimensionless,
so that bytes per second and operations per second would convert into each other."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Any

import pint

from knowledge.specs.citation import places_of

DEFINITIONS = """
kilo- = 1e3 = k-
mega- = 1e6 = M-
giga- = 1e9 = G-
tera- = 1e12 = T-
peta- = 1e15 = P-
kibi- = 1024 = Ki-
mebi- = 1048576 = Mi-
gibi- = 1073741824 = Gi-
tebi- = 1099511627776 = Ti-
byte = [information] = B
bit = byte / 8
second = [time] = s
operation = [operation] = op
FLOPS = operation / second
OPS = operation / second
clk = [cycle]
hertz = clk / second = Hz
watt = [power] = W
count = [count]
ratio = [ratio]
""".strip().splitlines()

# Counted things are spelt out on the page ("132 SM") and all convert one to one into `count`.
COUNTED = (
    *("count", "SM", "CU", "SIMD", "core", "thread", "warp", "wave", "block"),
    *("workgroup", "register", "bank", "link", "item"),
)

DECIMAL = ("k", "M", "G", "T")
BINARY = ("Ki", "Mi", "Gi", "Ti")

# Canonical unit → the spellings that convert into it.
ACCEPTED: dict[str, tuple[str, ...]] = {
    "B": ("B", *(f"{p}B" for p in DECIMAL), *(f"{p}B" for p in BINARY)),
    "B/s": ("B/s", *(f"{p}B/s" for p in DECIMAL), *(f"{p}B/s" for p in BINARY)),
    "bit": ("bit",),
    "bit/s": ("bit/s", *(f"{p}bit/s" for p in DECIMAL)),
    "op/s": (
        "op/s",
        *(f"{p}FLOPS" for p in ("", "M", "G", "T", "P")),
        *(f"{p}OPS" for p in ("G", "T", "P")),
    ),
    "op/clk": ("op/clk",),
    "Hz": ("Hz", "kHz", "MHz", "GHz"),
    "W": ("W", "kW"),
    "ratio": ("ratio",),
    "count": COUNTED,
}

AMBIGUOUS = {"KB": "kB (1000) or KiB (1024)", "K": "the full number", "KB/s": "kB/s or KiB/s"}
NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d{1,3})?", re.ASCII)
BESIDE = re.compile(r" ?([A-Za-z]+(?:/[A-Za-z]+)?)")
# Rates that others write in another way: the small b is a bit, the large one a byte.
RATE = re.compile(r"(?P<prefix>[kKMGTP]i?|[mgtp])?(?P<what>b(?:it)?s?|B)(?:ps|/s(?:ec)?|/second)")
TRANSFERS = re.compile(r"[MG]T/s")


class QuantityError(ValueError):
    """A number or unit that is not accepted; the message names what is."""


@cache
def _registry() -> pint.UnitRegistry[Any]:
    registry: pint.UnitRegistry[Any] = pint.UnitRegistry(None, non_int_type=Decimal)
    registry.load_definitions(DEFINITIONS)
    for name in COUNTED[1:]:
        registry.define(f"{name} = count")
    return registry


def canonical_unit(unit: str) -> str:
    """The canonical unit that `unit` converts into; QuantityError names the accepted ones."""
    for canonical, spellings in ACCEPTED.items():
        if unit in spellings:
            return canonical
    if unit in AMBIGUOUS:
        raise QuantityError(f"unit '{unit}' is ambiguous: write {AMBIGUOUS[unit]}")
    every = ", ".join(spelling for spellings in ACCEPTED.values() for spelling in spellings)
    raise QuantityError(f"unknown unit '{unit}'; accepted: {every}")


def parse_number(text: str) -> Decimal:
    """A plain decimal number; hedges, thousands separators and expressions are refused."""
    if not NUMBER.fullmatch(text):
        raise QuantityError(f"'{text}' is not a plain number such as 4.8, 132 or 1.5e12")
    return Decimal(text)


def format_number(value: float) -> str:
    """The shortest text that reads back to the same float, without a trailing '.0'."""
    text = repr(float(value))
    return text.removesuffix(".0")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A value with one accepted unit."""

    value: float
    unit: str

    def __post_init__(self) -> None:
        canonical_unit(self.unit)
        if not math.isfinite(self.value):
            raise QuantityError(f"{self.value} {self.unit}: only finite numbers are accepted")

    @classmethod
    def parse(cls, text: str, /) -> Quantity:
        """Read '4.8 TB/s'. A bare number is a count. QuantityError names what is accepted."""
        number, _, unit = text.partition(" ")
        exact = parse_number(number)
        if exact and not float(exact):
            raise QuantityError(f"'{number}' is too small to store; accepted: from 1e-307")
        return cls(float(exact), unit if unit else "count")

    def to(self, unit: str, /) -> Quantity:
        """The same quantity in another unit of the same kind."""
        mine, theirs = canonical_unit(self.unit), canonical_unit(unit)
        if mine != theirs:
            accepted = ", ".join(ACCEPTED[mine])
            raise QuantityError(f"{self.unit} does not convert to {unit}; accepted: {accepted}")
        exact = Decimal(repr(self.value))
        return Quantity(float(exact * _factor(self.unit) / _factor(unit)), unit)

    def canonical(self) -> Quantity:
        """The same quantity in its canonical unit (B, B/s, op/s, Hz, W, count, …)."""
        return self.to(canonical_unit(self.unit))

    def __str__(self) -> str:
        return f"{format_number(self.value)} {self.unit}"


@cache
def _factor(unit: str) -> Decimal:
    """How many base units one `unit` is, exactly."""
    return Decimal(_registry().Quantity(Decimal(1), unit).to_base_units().magnitude)


SPELLINGS = frozenset(spelling for every in ACCEPTED.values() for spelling in every)


def other_unit(quote: str, shown: str) -> str | None:
    """The unit that the quote gives the number instead of the one claimed; None where it does not.

    "4.8 TB/s" does not prove "4.8 TiB/s", nor does "4.8 Tbps" prove "4.8 TB/s". Only a known unit
    directly behind the number counts, as a table may keep its unit in the head. Counted things
    ("132 SM", "132 core") stand for each other.
    """
    number, _, unit = shown.partition(" ")
    if not unit or unit not in SPELLINGS:
        return None
    others = []
    for place in places_of(number).finditer(quote):
        found = BESIDE.match(quote, place.end())
        word = found[1] if found is not None else ""
        read = _plain(word)
        if read is None or read == unit or {read, unit} <= set(COUNTED):
            return None
        others.append(word)
    return others[0] if others else None


def _plain(word: str) -> str | None:
    """The unit as it is spelt here; None where the word is no unit."""
    if word in SPELLINGS or TRANSFERS.fullmatch(word):
        return word
    rate = RATE.fullmatch(word)
    if rate is None:
        return None
    what = "B" if rate["what"] == "B" else "bit"
    prefix = (rate["prefix"] or "").replace("K", "k")
    if len(prefix) == 1 and prefix != "k":
        prefix = prefix.upper()
    return f"{prefix}{what}/s"
