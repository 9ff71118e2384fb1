"""What people say of a campaign beyond its goal."""

from __future__ import annotations

import pytest

from campaigns.rules.stop.intake import Intake, IntakeError, fixed, intake_from


def test_it_comes_back_as_it_was_stored():
    said = Intake("strict", "optimize/mine", "a/project", "no tensor cores", "for the team")
    assert intake_from(said.stored) == said
    assert intake_from(None) == Intake()
    assert intake_from({"primary_metric": "time_us", "notes": "old"}) == Intake(notes="old")
    assert Intake().shown["Git branch"] == "named after the campaign"


@pytest.mark.parametrize(
    "name",
    ["", "-x", "a..b", "a//b", "a/.b", "x.lock", "a.lock/b", "a b", "a~1", "é", "a/", "x" * 101],
)
def test_a_branch_has_a_plain_name(name):
    with pytest.raises(IntakeError, match=r"git_branch: .*; accepted: auto"):
        Intake(git_branch=name)


@pytest.mark.parametrize(
    ("field", "text"),
    [("guard", "lax"), ("notes", "x" * 4001), ("reference_project", "x" * 501),
     ("constraints", "a\0b")],
)  # fmt: skip
def test_what_is_wrong_is_named(field, text):
    with pytest.raises(IntakeError, match=rf"^{field}: .*accepted: "):
        Intake(**{field: text})


def test_the_architecture_follows_from_the_platform():
    assert fixed("cuda", "Hopper")["Architecture"] == "Hopper, from the platform"
    assert fixed("cuda", "Hopper")["Language"] == "CUDA C++, from the backend"
