"""`tool time` with the real judge behind it."""

import pytest

from campaigns.problems.shipped import problem_folder


@pytest.mark.judged
@pytest.mark.sentinel
@pytest.mark.django_db
def test_r10_it_times_a_kernel_through_the_judge(run):
    kernel = problem_folder("softmax") / "v0.cpp"
    words = ("--problem", "softmax", "--case", "2048x256", "--device", "cpu", "--json")
    answer = run("tool", "time", kernel, *words)
    (case,) = answer.data["cases"]
    assert 0 < case["p20_us"] <= case["p50_us"] <= case["p80_us"]
    assert case["n"] >= 2
    assert answer.data["device_name"]
