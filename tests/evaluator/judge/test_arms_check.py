"""What arms compile is compiled at once, and they are checked one after the other."""

from types import SimpleNamespace

import pytest

from campaigns.evaluator.contract import Case
from campaigns.evaluator.judge import arms_check
from campaigns.evaluator.judge.arms_check import ArmsCheck

CASE = Case("rows", {})


class Checked:
    """An arm that is right on two hidden sizes; `refused` are those that the problem refuses."""

    refused = ()

    def __init__(self, channel, context, slots):
        self.name, self.done = channel.name, channel.done
        self.slots, self.context, self.notes, self._size = slots, context, [], 0

    def begin(self):
        if self._size in self.refused:
            return False
        self.done.append(f"{self.name} begins {self._size}")
        return True

    def plain(self, trials):
        return True

    def unlike(self, check, lay, trials):
        return True

    def hidden(self, check, lay):
        for self._size in (1, 2):
            yield
            self.done.append(f"{self.name} checked {self._size}")

    def report(self):
        return SimpleNamespace(correct=True, message="", case="rows")


@pytest.fixture
def check_hidden(monkeypatch):
    """Check one case of two arms, and tell what is done in turn."""
    monkeypatch.setattr(arms_check, "CaseCheck", Checked)

    def check(device):
        done = []
        channels = {
            name: SimpleNamespace(
                name=name,
                phase="",
                done=done,
                finish=lambda limit_s, name=name: done.append(f"{name} ends"),
            )
            for name in ("candidate", "incumbent")
        }
        task = SimpleNamespace(
            job=SimpleNamespace(device=device, protocol=SimpleNamespace(trials=1)),
            progress=SimpleNamespace(notes=[], checked={"candidate": {}}),
        )
        arenas = SimpleNamespace(
            layouts={"rows": None},
            lay=lambda *_: (None, None),
            lay_near=lambda *_: None,
            tell=lambda *_: None,
            call_s=1.0,
        )
        sets = SimpleNamespace(check=None, of=lambda context: ())

        def have_each(do):
            for channel in list(channels.values()):
                do(channel)

        checks = ArmsCheck(task, arenas, sets, channels, have_each)
        have_each(lambda channel: checks._lay_out(CASE, channel))
        checks.every_call(CASE)
        return done

    return check


def test_hidden_sizes_of_all_arms_are_compiled_at_once(check_hidden):
    begin = ["candidate begins {0}", "incumbent begins {0}", "candidate ends", "incumbent ends"]
    checked = ["candidate checked {0}", "incumbent checked {0}"]
    steps = [
        *(one.format(1) for one in (*begin, *checked)),
        *(s.format(2) for s in begin + checked),
    ]
    assert check_hidden("cuda:0") == steps


def test_a_size_that_the_problem_refuses_is_not_begun(check_hidden, monkeypatch):
    monkeypatch.setattr(Checked, "refused", (1,))
    done = check_hidden("cuda:0")
    assert done[:3] == ["candidate checked 1", "incumbent checked 1", "candidate begins 2"]


def test_on_a_cpu_nothing_is_begun_ahead(check_hidden):
    assert check_hidden("cpu") == [
        f"{arm} checked {size}" for size in (1, 2) for arm in ("candidate", "incumbent")
    ]
