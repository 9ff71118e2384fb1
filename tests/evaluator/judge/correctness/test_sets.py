"""Adversarial sets, near-duplicates and hidden sizes are made from the problem's own example."""

from __future__ import annotations

from math import gcd

import pytest
import torch

from campaigns.evaluator.contract import Case, Outcome
from campaigns.evaluator.contract.problem import CheckSpec, ProblemError
from campaigns.evaluator.contract.problem_reader import load_problem
from campaigns.evaluator.judge.correctness import sets
from campaigns.evaluator.judge.correctness.sets import keeps
from tests.evaluator import small

X = torch.arange(64, dtype=torch.float32)[torch.randperm(64)].view(8, 8) - 30.5
INPUTS = {"x": X, "at": torch.arange(8), "y": torch.zeros(8), "N": 8}


def test_it_changes_floating_inputs_and_nothing_else():
    for name in set(sets.MAKE) - {sets.ENDS}:
        made = sets.adversarial(name, INPUTS, ("y",))
        assert made is not None
        assert made["at"] is INPUTS["at"]
        assert made["y"] is INPUTS["y"]
        assert not torch.equal(made["x"], X)


def test_one_value_of_a_spiked_set_is_far_beyond_all_others():
    made = sets.adversarial("spiked", INPUTS, ("y",))["x"]
    changed = made != X
    assert int(changed.sum()) == 1
    assert float(made[changed][0]) >= sets.SPIKE
    places = {
        int((sets.adversarial("spiked", INPUTS, ("y",))["x"] != X).int().argmax())
        for _ in range(40)
    }
    assert len(places) > 1


def test_a_sparse_set_has_many_zeros_and_few_values():
    made = sets.adversarial("sparse", {"x": torch.randn(4096)}, ())["x"]
    assert 0.4 < float((made == 0).float().mean()) < 0.6
    assert len(made.unique()) <= sets.FEW_VALUES + 1


def test_inputs_that_are_never_above_zero_stay_so():
    inputs = {"x": -torch.rand(64)}
    assert sets.adversarial("positive", inputs, ()) is None
    assert float(sets.adversarial("spiked", inputs, ())["x"].min()) <= -sets.SPIKE
    assert all(
        float(made["x"].max()) <= 0
        for name in sets.MAKE
        if (made := sets.adversarial(name, inputs, ())) is not None
    )


def test_short_integers_that_may_be_negative_go_to_their_ends():
    drawn = torch.randint(-100, 90, (400,), dtype=torch.int8)
    inputs = {"w": drawn, "at": drawn.long(), "code": drawn.abs(), "x": X}
    made = sets.adversarial(sets.ENDS, inputs, ())
    assert sorted(made["w"].unique().tolist()) == [int(drawn.min()), int(drawn.max())]
    assert all(made[name] is inputs[name] for name in ("at", "code", "x"))
    assert sets.adversarial(sets.ENDS, inputs, (), "x") is None


def test_inputs_that_are_never_below_zero_stay_so():
    inputs = {"x": torch.rand(64), "y": torch.zeros(1)}
    assert sets.adversarial("negative", inputs, ("y",)) is None
    assert sets.adversarial("lowered", inputs, ("y",)) is None
    assert sets.adversarial("shifted", inputs, ("y",)) is not None
    # Of a few values that may be chance.
    assert sets.adversarial("negative", {"x": torch.rand(8)}, ()) is not None


def test_it_makes_no_set_of_integers_alone_and_none_that_is_not_finite():
    assert sets.adversarial("zeros", {"at": torch.arange(8)}, ()) is None
    huge = {"x": torch.full((4,), 6e4, dtype=torch.float16)}
    assert sets.adversarial("large", huge, ()) is None


def made_of(inputs, outputs=()):
    """The near-duplicates, each as it was when it was made."""
    return [
        {name: torch.as_tensor(value).clone() for name, value in made.items()}
        for made in sets.near_duplicates(inputs, outputs)
    ]


def test_it_changes_one_element_of_one_input_at_a_time_and_then_a_few():
    inputs = INPUTS | {"w": torch.arange(8, dtype=torch.float32)}
    before, alone = inputs, []
    *chain, last = made_of(inputs, ("y",))
    for made in chain:
        changed = {name: int((made[name] != before[name]).sum()) for name in ("x", "w", "at", "y")}
        assert sorted(changed.values()) == [0, 0, 0, 1]
        alone += [name for name, count in changed.items() if count]
        before = made
    assert len(chain) == sets.LEAST_ALONE
    assert set(alone) == {"x", "w"}
    assert 1 <= int((last["x"] != before["x"]).sum()) <= sets.CHANGED
    assert list(sets.near_duplicates({"at": torch.arange(8)}, ())) == []


def test_it_makes_sets_of_all_inputs_and_of_the_largest_alone():
    inputs = INPUTS | {"w": torch.ones(8)}
    assert sets.scopes(INPUTS, ("y",)) == ("",)
    assert sets.scopes(inputs, ("y",)) == ("", "x")
    made = sets.adversarial("tiny", inputs, ("y",), "x")
    assert made is not None
    assert made["w"] is inputs["w"]
    assert not torch.equal(made["x"], X)


def test_it_moves_sizes_and_leaves_switches_alone():
    case = Case("c", {"N": 512, "heads": 8, "causal": True, "scale": 0.5, "name": "x"})
    found = sets.hidden_cases(case, CheckSpec())
    assert len(found) == 6
    assert {hidden.params["N"] for hidden in found.pop(sets.OTHER_NUMBERS)} == {512}
    assert sets.TINY_SIZES in sets.hidden_cases(case, CheckSpec(free=("N",)))
    far = [int(hidden.params["N"]) for hidden in found["far smaller"]]
    assert all(512 // 3 <= size <= 2 * 512 // 3 for size in far)
    assert len(set(far)) > 1
    for cases, sign in ((found["a little smaller"], -1), (found["a little larger"], 1)):
        moves = [sign * (int(hidden.params["N"]) - 512) for hidden in cases]
        assert sorted(moves) == list(range(1, sets.MOST_MOVED + 1))
        assert all({**hidden.params, "N": 512} == case.params for hidden in cases)
    assert sets.hidden_cases(case, CheckSpec(free=())) == {}
    assert "heads" in sets.free_parameters(case, CheckSpec(free=("heads",)))


def test_it_tries_sizes_first_that_share_no_factor_with_the_declared_one():
    case = Case("c", {"M": 192, "N": 255})
    found = sets.hidden_cases(case, CheckSpec())
    for cases in (found["a little smaller"], found["a little larger"]):
        shared = [gcd(192, int(c.params["M"])) for c in cases]
        assert shared[0] == 1
        assert shared == sorted(shared)
        assert gcd(255, int(cases[0].params["N"])) == 1


@pytest.mark.parametrize("size", [1, 2, 4, 15, 16, 17, 20, 512, 1002])
def test_it_tries_every_kind_of_remainder_and_sizes_below_a_vector(size):
    found = sets.hidden_cases(Case("c", {"M": 192, "N": size}), CheckSpec(free=("M", "N")))
    for cases, part in (
        (found["even and little other"], 2),
        (found["by fours and little other"], 4),
    ):
        moved = [int(hidden.params[name]) for hidden in cases for name in ("M", "N")]
        assert {each & -each for each in moved} == {part}
        assert not {192, size} & {*moved[::2], *moved[1::2]}
    tiny = [int(hidden.params["N"]) for hidden in found[sets.TINY_SIZES]]
    assert all(1 <= each < max(2, min(size, sets.LEAST_FREE)) for each in tiny)


def test_it_goes_on_to_sizes_that_the_setup_takes(service, tmp_path):
    ref = small.REF.replace("    g = torch", "    assert N % 2 == 0\n    g = torch")
    problem = small.write_problem(tmp_path, ref=ref)
    only = small.source("if (N != 4096) return; " + small.LOOP)
    report = service.evaluate(small.job(problem, tmp_path, only))
    assert report.outcome is Outcome.WRONG_RESULT
    assert "hidden sizes" in report.reason


def test_it_does_not_tell_the_hidden_sizes(service, problem, tmp_path):
    only = small.source("if (N != 4096) return; " + small.LOOP)
    report = service.evaluate(small.job(problem, tmp_path, only))
    assert report.outcome is Outcome.WRONG_RESULT
    assert "hidden sizes, N a little" in report.reason
    assert "never written" in report.reason
    assert not any(str(n) in report.reason for n in range(4089, 4104) if n != 4096)


def test_it_leaves_hidden_sizes_out_where_the_setup_refuses_them(service, tmp_path):
    ref = small.REF.replace("    g = torch", "    assert N % 64 == 0\n    g = torch")
    problem = small.write_problem(tmp_path, ref=ref)
    report = service.evaluate(small.job(problem, tmp_path, small.source()))
    assert report.outcome is Outcome.PASSED, report.reason
    refused = [note for note in report.notes if "no hidden sizes" in note]
    assert len(refused) == 1


def test_it_leaves_sets_out_on_which_the_reference_is_not_finite(service, tmp_path):
    # 1 / x has no answer for zeros; a kernel that is right otherwise passes.
    # Drawn away from zero, which the normal distribution meets once in many millions.
    ref = small.REF.replace("torch.mul(x, 2, out=y)", "y.copy_(1 / x)")
    ref = ref.replace("torch.randn", "1 + torch.rand")
    problem = small.write_problem(tmp_path, ref=ref)
    kernel = small.source("for (int i = 0; i < N; ++i) y[i] = x[i] == 0 ? 5 : 1 / x[i];")
    report = service.evaluate(small.job(problem, tmp_path, kernel))
    assert report.outcome is Outcome.PASSED, report.reason


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('sets = ["odd"]', r"\[check\]: sets: 'odd'; accepted: zeros"),
        ('sets = "zeros"', r"\[check\] sets: a list"),
        ("align = 3", r"\[check\] align: 3; accepted: 1, 2"),
        ("colour = 1", r"\[check\]: colour: unknown"),
    ],
)
def test_it_names_what_is_wrong_in_the_check_table(tmp_path, line, words):
    toml = small.TOML.replace("[[case]]", f"[check]\n{line}\n[[case]]", 1)
    with pytest.raises(ProblemError, match=words):
        load_problem(small.write_problem(tmp_path, toml=toml))


def test_it_reads_tolerances_of_single_outputs(tmp_path):
    toml = small.TOML.replace(
        "[[case]]", "[tolerance.outputs.y]\natol = 2\nnorm = 0.5\n[[case]]", 1
    )
    spec = load_problem(small.write_problem(tmp_path, toml=toml))
    assert spec.bounds["y"].atol == 2
    assert spec.bounds["y"].rtol is None
    assert spec.bounds[""].rtol == 1e-6
    (tmp_path / "again").mkdir()
    bad = small.write_problem(tmp_path / "again", toml=toml.replace("atol = 2", "colour = 2"))
    with pytest.raises(ProblemError, match=r"outputs.y\]: colour: unknown"):
        load_problem(bad)


def test_it_measures_how_far_repeats_differ(judge):
    before = "static int calls = 0;\n"
    body = "float a = (++calls % 2) * 1e-7f; for (int i = 0; i < N; ++i) y[i] = 2 * x[i] * (1 + a);"
    same = judge(small.source(), timed=False)
    assert same.cases[0].repeat_margin == 0
    apart = judge(small.Source("a.cpp", small.source(body, before).text), timed=False)
    assert apart.outcome is Outcome.PASSED, apart.reason
    assert 0 < apart.cases[0].repeat_margin <= 1


ORDERED = torch.rand(3, 20, generator=torch.Generator().manual_seed(1)).sort(dim=1).values
MATRIX = torch.rand(5, 5, generator=torch.Generator().manual_seed(2))
PROMISED = {
    "ascending": ORDERED,
    "descending": ORDERED.flip(1),
    "symmetric": MATRIX + MATRIX.T,
    "shares": torch.softmax(ORDERED, dim=1),
    "one hot": torch.eye(4)[[2, 0, 0, 3, 1]],
}


@pytest.mark.parametrize("name", PROMISED)
def test_what_it_makes_keeps_what_the_problem_promises(name):
    inputs = {"x": PROMISED[name], "free": MATRIX}
    made = made_of(inputs)
    made += [found for s in sets.MAKE if (found := sets.adversarial(s, inputs, ())) is not None]
    for one in made:
        assert keeps(inputs["x"], one["x"]), name
    assert any(not torch.equal(one["free"], MATRIX) for one in made)


@pytest.mark.parametrize("name", ["ascending", "descending"])
def test_what_is_in_order_is_changed_all_the_same(name):
    made = made_of({"x": PROMISED[name]})
    assert all(not torch.equal(one["x"], PROMISED[name]) for one in made)


@pytest.mark.parametrize(
    "drawn", [MATRIX, torch.randn(4096), torch.tensor([1.0, 2.0, 3.0]), torch.tensor(0.5)]
)
def test_it_takes_nothing_for_promised_that_may_be_chance(drawn):
    for name in sets.MAKE:
        made = sets.MAKE[name](drawn)
        assert keeps(drawn, made), name
    assert keeps(drawn, drawn.flip(-1) if drawn.dim() else -drawn)


def test_it_asks_the_problem_whether_made_inputs_are_valid(service, tmp_path):
    ref = small.REF.replace("torch.randn", "1 + torch.rand")
    body = "for (int i = 0; i < N; ++i) y[i] = x[i] > 0 && x[i] < 8 ? 2 * x[i] : 0;"
    folder = small.write_problem(tmp_path, ref=ref)
    job = small.job(folder, tmp_path, small.source(body), timed=False)
    report = service.evaluate(job)
    assert report.outcome is Outcome.WRONG_RESULT
    assert "inputs 128 times larger" in report.reason
    promise = "\ndef valid(*, x, y, N):\n    return 0 < float(x.min()) and float(x.max()) < 8\n"
    (folder / "ref.py").write_text(ref + promise)
    report = service.evaluate(job)
    assert report.outcome is Outcome.PASSED, report.reason


def test_rounding_the_same_way_adds_up_over_a_long_row():
    row = torch.ones(3, 1 << 14)
    signs, same = (made["x"] for made in sets.rounded({"x": row}, ()))
    eps = torch.finfo(torch.float32).eps / 2
    assert float((same - 1).max()) == pytest.approx(eps * ((1 << 14) + 1), rel=1e-3)
    assert float((signs - 1).abs().max()) == pytest.approx(eps * (sets.LONGEST_ROW + 1), rel=1e-3)
    assert float((same - same[:, :1]).abs().max()) == 0


def test_steps_over_a_row_of_unlike_values_round_either_way():
    row = torch.ones(3, 1 << 10)
    signs, same = (made["x"] for made in sets.rounded({"x": row}, (), alike=False))
    eps = torch.finfo(torch.float32).eps / 2
    assert float((signs - 1).abs().max()) == pytest.approx(eps * (32 + 1), rel=1e-3)
    assert float((same - 1).max()) == pytest.approx(eps * (1024 + 1), rel=1e-3)


def test_no_row_is_so_long_that_its_steps_allow_more_than_those_of_a_long_one():
    row = torch.ones(1, 1 << 21)
    both = [next(sets.rounded({"x": row}, (), alike=alike))["x"] for alike in (True, False)]
    assert float((both[0] - 1).abs().max()) == float((both[1] - 1).abs().max())


def test_numbers_that_are_no_sizes_move_down_as_well():
    case = Case("a", {"N": 64, "alpha": 0.5, "bias": -2.0, "zero": 0.0, "kind": "up"})
    moved = sets.hidden_cases(case, CheckSpec())[sets.OTHER_NUMBERS]
    for one in moved:
        assert 0.3 < one.params["alpha"] < 0.5
        assert -2.0 < one.params["bias"] < -1.3
        assert {k: v for k, v in one.params.items() if k not in ("alpha", "bias")} == {
            "N": 64,
            "zero": 0.0,
            "kind": "up",
        }
    named = sets.hidden_cases(case, CheckSpec(free=("N", "bias")))[sets.OTHER_NUMBERS]
    assert {one.params["alpha"] for one in named} == {0.5}
    assert sets.OTHER_NUMBERS not in sets.hidden_cases(case, CheckSpec(free=("N",)))
    alone = sets.hidden_cases(Case("a", {"alpha": 0.5}), CheckSpec())
    assert list(alone) == [sets.OTHER_NUMBERS]


def test_it_lets_a_plain_sum_of_a_long_row_pass(service, tmp_path):
    ref = small.REF.replace("torch.empty_like(x)", "torch.empty(1, device=device)")
    ref = ref.replace("torch.mul(x, 2, out=y)", "y.copy_(x.sum().view(1))")
    toml = small.TOML.replace("atol = 1e-6", "atol = 0.1")
    folder = small.write_problem(tmp_path, toml=toml, ref=ref)
    candidate = small.source("float s = 0; for (int i = 0; i < N; ++i) s += x[i]; *y = s;")
    long = {"cases": (Case("n300000", {"N": 300000}),), "timed": False}
    report = service.evaluate(small.job(folder, tmp_path, candidate, **long))
    assert report.outcome is Outcome.PASSED, report.reason


def test_it_asks_for_nothing_that_the_reference_refuses(service, tmp_path):
    """Twice a value on the diagonal, and a matrix is positive definite no more."""
    ref = small.REF.replace("torch.randn(N, ", "torch.rand(N, ")
    ref = ref.replace("    torch.mul", "    assert x.unique().numel() == N\n    torch.mul")
    ref = ref.replace("x = torch.rand", "x = torch.randperm(N).float() + 0 * torch.rand")
    toml = small.TOML.replace('refresh = "shift"', "")
    folder = small.write_problem(tmp_path, toml=toml, ref=ref)
    short = {"cases": (Case("n64", {"N": 64}),)}
    report = service.evaluate(small.job(folder, tmp_path, small.source(), **short))
    assert report.outcome is Outcome.PASSED, report.reason


def test_only_the_last_of_every_row_is_far_beyond_all_others():
    made = sets.adversarial("last", INPUTS, ("y",))["x"]
    assert (made != X).any(dim=0).tolist() == [False] * 7 + [True]
    assert float(made[:, -1].min()) >= sets.SPIKE


def test_a_promise_is_one_of_all_rows_however_many_are_looked_at_together(monkeypatch):
    monkeypatch.setattr(sets, "PIECE", 20)
    broken = ORDERED.clone()
    broken[-1, 3:5] = broken[-1, 3:5].flip(0)
    assert not keeps(ORDERED, broken)
    assert keeps(ORDERED, ORDERED + 1)
    assert not keeps(torch.rand(4, 20), torch.rand(4, 20) - torch.eye(4, 20) * 2)
