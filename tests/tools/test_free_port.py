"""`make run` looks for a free port before anything else, and says so when it takes another."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from tools.free_port import NoPort, free_port, main


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that somebody else listens on."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


def test_it_takes_the_next_port_and_says_so(taken: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(taken)]) == 0
    out, said = capsys.readouterr()
    assert int(out) > taken
    assert said == f"setup: port {taken} is taken; using port {int(out)}\n"


def test_it_takes_a_free_port_without_a_word(
    taken: int, capsys: pytest.CaptureFixture[str]
) -> None:
    port = free_port(str(taken))
    assert main([str(port)]) == 0
    assert capsys.readouterr() == (f"{port}\n", "")


@pytest.mark.parametrize("asked", ["", "http", "0", "-1", "65536"])
def test_it_names_the_ports_that_are_accepted(asked: str) -> None:
    with pytest.raises(NoPort, match="accepted is a number from 1 to 65535"):
        free_port(asked)


def test_it_fails_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["http"]) == 1
    out, said = capsys.readouterr()
    assert out == ""
    assert said == "setup: PORT='http': accepted is a number from 1 to 65535\n"
