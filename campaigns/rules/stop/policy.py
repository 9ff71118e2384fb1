"""When a campaign ends, and its sentence (R49; law 10): reaching the roofline is a success."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from campaigns.rules.target.goal import Reached
from campaigns.rules.target.roofline import LEAST_FRACTION, TARGET_FRACTION
from campaigns.rules.verdict.decision import UNJUDGED, Reason, VerdictWord
from campaigns.rules.wording import share

ROUND_LIMIT = 120
ROUNDS_ACCEPTED = f"1 to {ROUND_LIMIT - 1}, as a campaign has fewer than {ROUND_LIMIT} rounds"
# A limit beyond this is most likely a typing error.
MOST_HOURS = 10_000


class StopReason(StrEnum):
    """Why a campaign stopped."""

    TARGET_MET = "target_met"
    ROOFLINE_REACHED = "roofline_reached"
    MAX_ROUNDS = "max_rounds"
    CONSECUTIVE_REGRESSIONS = "consecutive_regressions"
    FAILURE_BUDGET = "failure_budget"
    WALL_TIME = "wall_time"
    DEVICE_TIME = "device_time"
    USER = "user"
    NO_IDEAS_LEFT = "no_ideas_left"


class RestartPolicy(StrEnum):
    """The answer to the one partial restart that a campaign is offered (R40)."""

    TAKE = "take"
    DECLINE = "decline"
    ASK = "ask"


@dataclass(frozen=True, slots=True)
class StopPolicy:
    """A campaign's limits. max_rounds counts the baseline and stays under 120.

    max_wall_h: hours since it was confirmed, without pauses and waits for a device. max_device_h:
    hours of measuring for it. None is no limit; both are checked between
    rounds. restart: the answer to the restart that five rounds without a gain lead to; regressions
    stop a campaign only once there is one.
    """

    target_fraction: float = 0.90
    max_rounds: int = 20
    max_consecutive_regressions: int = 5
    max_consecutive_non_accepts: int = 8
    max_wall_h: float | None = None
    max_device_h: float | None = None
    restart: RestartPolicy = RestartPolicy.TAKE

    def __post_init__(self) -> None:
        if not LEAST_FRACTION <= self.target_fraction <= 1:
            asked = f"target_fraction: {self.target_fraction!r}"
            raise ValueError(f"{asked}; accepted: {LEAST_FRACTION:g} to 1")
        if not 1 <= self.max_rounds < ROUND_LIMIT:
            raise ValueError(f"max_rounds: {self.max_rounds!r}; accepted: {ROUNDS_ACCEPTED}")
        if self.restart not in list(RestartPolicy):
            accepted = ", ".join(RestartPolicy)
            raise ValueError(f"restart: {self.restart!r:.60}; accepted: {accepted}")
        object.__setattr__(self, "restart", RestartPolicy(self.restart))
        for name in ("max_consecutive_regressions", "max_consecutive_non_accepts"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}: {getattr(self, name)!r}; accepted: 1 or more")
        for name in ("max_wall_h", "max_device_h"):
            hours = getattr(self, name)
            if hours is not None and not 0 < hours <= MOST_HOURS:
                raise ValueError(f"{name}: {hours!r}; accepted: hours up to {MOST_HOURS:,}")


@dataclass(frozen=True, slots=True)
class History:
    """The progress of a campaign.

    rounds: closed rounds with the baseline. accepts: accepted rounds after the baseline.
    share_of_floor: of the incumbent over all cases (`roofline.share_of_floor`), None if UNKNOWN;
    roof: the limits that it is a share of, in words.
    reached: the incumbent's measured value against a target over all cases.
    restart_settled: whether the restart was taken or declined; regressions are counted since it was
    taken. wall_h, device_h: as in `StopPolicy`.
    """

    rounds: int
    accepts: int = 0
    consecutive_regressions: int = 0
    consecutive_non_accepts: int = 0
    share_of_floor: float | None = None
    roof: str = "the roofline"
    reached: Reached | None = None
    user_stopped: bool = False
    wall_h: float = 0.0
    device_h: float = 0.0
    restart_settled: bool = False


SLOWER = frozenset({Reason.SLOWER, Reason.CASE_REGRESSED, Reason.CLASS_REGRESSED})


@dataclass(frozen=True, slots=True)
class Streaks:
    """The counts of `History` that follow from its closed rounds."""

    accepts: int
    consecutive_regressions: int
    consecutive_non_accepts: int


@dataclass(frozen=True, slots=True)
class Stop:
    """The end of a campaign. success: it reached its target or the roofline."""

    reason: StopReason
    sentence: str
    success: bool


BY_A_PERSON = Stop(StopReason.USER, "Stopped by a person.", False)
NO_IDEAS = Stop(StopReason.NO_IDEAS_LEFT, "The proposer has no untried idea left.", False)


def count_streaks(
    decisions: Iterable[tuple[VerdictWord, Reason]], restarted_after: int = 0
) -> Streaks:
    """Count over the rounds' verdicts in order, baseline included.

    restarted_after: the number of closed rounds when a restart was taken; earlier
    regressions do not count (R49).
    A broken host is no attempt (law 8) and leaves every count alone. A round that was not slower
    ends a streak of regressions; only an accepted one ends a streak of failures.
    """
    accepts = regressions = failures = 0
    for number, (verdict, reason) in enumerate(decisions, 1):
        if reason in UNJUDGED:
            continue
        slower = number > restarted_after and reason in SLOWER
        regressions = regressions + 1 if slower else 0
        failures = 0 if verdict is VerdictWord.ACCEPTED else failures + 1
        accepts += verdict is VerdictWord.ACCEPTED and reason is not Reason.BASELINE
    return Streaks(accepts, regressions, failures)


@dataclass(frozen=True, slots=True)
class Counter:
    """The use of one limit; it stops a campaign when `used` reaches `limit`.

    limit: None for no limit. what: what is counted. is_off: reaching it does not stop yet.
    """

    reason: StopReason
    what: str
    used: float
    limit: float | None
    is_off: bool = False

    @property
    def share(self) -> float:
        """Share of the limit, from 0 to 1; 0 without one."""
        return min(1.0, self.used / self.limit) if self.limit else 0.0

    @property
    def words(self) -> str:
        """ "3 of 8", "0.42 of 2 h", "0.42 h, no limit"."""
        unit = " h" if self.reason in (StopReason.WALL_TIME, StopReason.DEVICE_TIME) else ""
        used = f"{self.used:.2f}" if unit else f"{self.used:g}"
        if self.limit is None:
            return f"{used}{unit}, no limit"
        return f"{used} of {self.limit:g}{unit}"


SENTENCES = {
    StopReason.MAX_ROUNDS: "All {limit:g} rounds are done.",
    StopReason.CONSECUTIVE_REGRESSIONS: "{used:g} rounds in a row were slower.",
    StopReason.FAILURE_BUDGET: "{used:g} rounds in a row were not accepted.",
    StopReason.WALL_TIME: "The limit of {limit:g} hours is reached ({used:.2f} used).",
    StopReason.DEVICE_TIME: "The limit of {limit:g} device hours is reached ({used:.2f} used).",
}


def counters(policy: StopPolicy, history: History) -> tuple[Counter, ...]:
    """Every limit and its use, in the order in which they are checked."""
    later = not history.restart_settled
    slower = "slower in a row since a restart" if later else "slower in a row"
    regressions = (history.consecutive_regressions, policy.max_consecutive_regressions, later)
    failures = (history.consecutive_non_accepts, policy.max_consecutive_non_accepts)
    wall = "hours, pauses and waits excluded"
    return (
        Counter(StopReason.MAX_ROUNDS, "rounds", history.rounds, policy.max_rounds),
        Counter(StopReason.CONSECUTIVE_REGRESSIONS, slower, *regressions),
        Counter(StopReason.FAILURE_BUDGET, "not accepted in a row", *failures),
        Counter(StopReason.WALL_TIME, wall, history.wall_h, policy.max_wall_h),
        Counter(StopReason.DEVICE_TIME, "device hours", history.device_h, policy.max_device_h),
    )


def should_stop(policy: StopPolicy, history: History) -> Stop | None:
    """Return why the campaign ends now, or None to continue."""
    if history.user_stopped:
        return BY_A_PERSON
    if goal := _goal(policy, history):
        return goal
    for counter in counters(policy, history):
        if counter.limit is not None and counter.used >= counter.limit and not counter.is_off:
            sentence = SENTENCES[counter.reason].format(used=counter.used, limit=counter.limit)
            return Stop(counter.reason, sentence, False)
    return None


def _goal(policy: StopPolicy, history: History) -> Stop | None:
    own = history.reached
    if own is not None and own.met:
        return Stop(StopReason.TARGET_MET, f"Target met: {own.words}.", True)
    reached = history.share_of_floor
    if reached is None or reached < policy.target_fraction:
        return None
    figures = f"{share(reached)} of {history.roof}, the target is {share(policy.target_fraction)}"
    # Below the share that is usually wanted, a baseline meets a low target and is at no roofline.
    if own is None and (history.accepts or reached < TARGET_FRACTION):
        return Stop(StopReason.TARGET_MET, f"Target met: the incumbent reaches {figures}.", True)
    sentence = f"Already at the roofline: the baseline reaches {figures}."
    if own is not None:
        sentence = (
            f"At the roofline: the incumbent reaches {share(reached)} of it, so little gain is "
            f"possible, although {own.words}."
        )
    return Stop(StopReason.ROOFLINE_REACHED, sentence, True)
