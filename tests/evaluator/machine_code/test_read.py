"""What becomes of disassemblers that a host lacks, and of names that only C++ understands."""

from __future__ import annotations

import pytest

from campaigns.evaluator.contract import Function
from campaigns.evaluator.contract.errors import Unsupported
from campaigns.evaluator.machine_code import read
from campaigns.evaluator.sandbox.workplace import Ended

MANGLED = (Function("_Z4talkPK6float4Pd", 24, {}), Function("solve", 3, {}))


class Place:
    """A workplace whose programs say what they are told to."""

    def __init__(self, said: str | None, status: int = 0) -> None:
        self.said, self.status = said, status
        self.asked: list[list[str]] = []

    def run(self, command: list[str]) -> Ended:
        self.asked.append(command)
        if self.said is None:
            raise FileNotFoundError
        return Ended(self.status, self.said)


def test_kernels_have_the_names_of_their_source():
    place = Place("talk(float4 const*, double*)\nsolve\n")
    names = [one.name for one in read._demangled(MANGLED, place)]
    assert names == ["talk(float4 const*, double*)", "solve"]
    # No name is taken for an option.
    assert place.asked == [["c++filt", "--", "_Z4talkPK6float4Pd", "solve"]]


@pytest.mark.parametrize("place", [Place(None), Place("no", status=256), Place("one line\n")])
def test_names_stay_as_they_are_where_nothing_tells_more(place):
    assert read._demangled(MANGLED, place) == MANGLED


def test_a_disassembler_that_is_missing_is_named():
    with pytest.raises(Unsupported, match="objdump is not on this host"):
        read._listed(["objdump"], Place(None))


def test_a_disassembler_that_fails_is_quoted():
    with pytest.raises(Unsupported, match=r"objdump: exit status 1: no such section"):
        read._listed(["objdump"], Place("…\nno such section\n", status=256))
