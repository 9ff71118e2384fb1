"""PURE: what an attempt achieved, from what it measured; what its source claims is kept beside.

R12 without an interval: a gain counts above the least noise floor.
"""

from __future__ import annotations

from knowledge.experience.terms import AttemptLabel, label_of

LEAST_FLOOR = 0.01
# What a source says → whether it claims that the attempt worked; None where its answer was wrong.
CLAIMS: dict[AttemptLabel, tuple[str, ...]] = {
    AttemptLabel.SUCCESS: ("success", "improved", "kept", "keep", "accepted", "worked", "win"),
    AttemptLabel.TIE: ("neutral", "tie", "no change", "no_change", "unchanged", "failure", "failed",
                       "rejected", "rolled_back", "rolled back", "revert", "reverted"),
    AttemptLabel.REGRESSION: ("regression", "regressed", "slower"),
    AttemptLabel.INCORRECT: ("incorrect", "invalid", "wrong", "wrong_result", "fail"),
}  # fmt: skip
_LABEL = {word: label for label, words in CLAIMS.items() for word in words}
ACCEPTED = tuple(_LABEL)
FAILED = ("failure", "failed")


def judge(stated: str, gain: float | None) -> tuple[AttemptLabel, str]:
    """The label, and a note where the source claims something else. stated: one of `ACCEPTED`.

    gain: 0.05 is 5 % faster; None if not measured: then only what is stated is known. A source that
    counts a clear gain as a failure had a wrong answer.
    """
    plain = stated.strip().casefold()
    claimed = _LABEL.get(plain, AttemptLabel.TIE)
    if gain is None:
        return claimed, ""
    correct = claimed != AttemptLabel.INCORRECT
    if plain in FAILED and gain >= 0.02:
        correct = False
    label = label_of(gain, correct=correct, faster=gain > LEAST_FLOOR, floor=LEAST_FLOOR)
    if label == AttemptLabel.INCORRECT and plain in FAILED:
        return label, f'Its source calls it "{stated}" though it was {gain:.1%} faster.'
    if not plain or label.worked == claimed.worked:
        return label, ""
    return label, f'Its source calls it "{stated}"; measured {gain:+.1%}, it is a {label}.'
