"""`tool`: shares of cited peaks, bandwidths of copies, the time of one kernel."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from django.core.management import CommandError, call_command

from campaigns.devices.hold import DeviceBusy
from campaigns.evaluator.ceilings.choice import swept
from campaigns.evaluator.ceilings.result import CeilingsError, Result, Sample
from campaigns.evaluator.contract import Outcome, Phase, Report
from campaigns.management.base_command import ExitCode
from campaigns.management.commands import tool
from knowledge.models import Flag, Platform, Spec
from knowledge.specs.cited import UNKNOWN
from tests.campaigns.commands.test_campaign import Service
from tests.campaigns.steps import cast

MIB = 1 << 20
USED = ("utilisation", "--platform", "h200-sxm", "--dtype", "bfloat16", "--time-us")
PEAK = "memory_bandwidth: 4.8 TB/s <- <gpu-wiki>/docs/hardware/h200-sxm.md:L23"


def answer(capsys, *words):
    call_command("tool", *words, "--json")
    return json.loads(capsys.readouterr().out)


def refusal(*words):
    with pytest.raises(CommandError) as caught:
        call_command("tool", *words)
    assert len(str(caught.value).splitlines()) == 1
    return caught.value.returncode, str(caught.value)


@pytest.mark.django_db
@pytest.mark.usefixtures("wiki_of_module")
class TestUtilisation:
    def test_r4_it_prints_shares_ridge_floor_and_every_citation(self, capsys):
        call_command("tool", *USED, "50", "--flops", "1e10", "--bytes", "1e8", "--blocks", "512")
        said = capsys.readouterr().out
        lines = said.splitlines()
        assert lines[0] == "bandwidth  2.00 TB/s, 41.7 % of memory_bandwidth 4.8 TB/s (documented)"
        assert "ridge      989 TFLOPS ÷ 4.8 TB/s = 206 op/B; the work has 100 op/B: memory" in said
        assert "floor      100 MB ÷ 4.8 TB/s = 20.8 µs, 41.7 % of 50.0 µs" in said
        assert "waves      512 blocks on 132 SMs: ×1.03 (4 on the busiest SM" in said
        assert "4 in turn take 21.5 µs, at most 97 % of the peak" in said
        cited = [line.partition(":")[0] for line in lines if "<- <gpu-wiki>/docs/" in line]
        assert PEAK in lines
        assert {"memory_bandwidth", "peak_bf16_tensor_dense", "sm_count"} <= {*cited}

    def test_it_gives_the_same_as_json(self, capsys):
        found = answer(capsys, *USED, "50", "--flops", "1e10", "--bytes", "1e8", "--blocks", "133")
        peak = found["shares"][0]
        assert (peak["question"], peak["share"]) == ("bandwidth", pytest.approx(2 / 4.8))
        assert peak["ceiling"]["citation"] == PEAK
        assert (found["bound"], found["waves"], found["units"]) == ("memory", 2, 132)
        assert found["floor_us"] == pytest.approx(1e8 / 4.8e6)
        assert found["waves_floor_us"] == pytest.approx(found["floor_us"] * 264 / 133)
        assert found["missing"] == []

    def test_law_6_it_fails_above_the_peak(self):
        code, message = refusal(*USED, "20", "--bytes", "1e8")
        assert code == ExitCode.USAGE
        assert "104.2 % of memory_bandwidth 4.8 TB/s (documented): the time or the work is" in (
            message
        )
        assert message.endswith(PEAK)

    def test_law_1_it_names_what_is_missing_and_guesses_nothing(self, capsys):
        words = ("utilisation", "--platform", "h20", "--dtype", "float32", "--time-us", "9")
        code, message = refusal(*words, "--bytes", "1e6", "--json")
        assert code == ExitCode.NO_APPROVED_VALUE
        assert message.startswith(f"bandwidth: {UNKNOWN}: no approved memory_bandwidth of h20; ")
        found = json.loads(capsys.readouterr().out)
        assert (found["shares"], found["floor_us"]) == ([], None)
        assert [one["question"] for one in found["missing"]] == ["bandwidth"]
        refusal(*words, "--bytes", "1e6")
        assert f"bandwidth  {UNKNOWN}\n" in capsys.readouterr().out

    def test_law_1_waves_need_a_cited_count_of_units(self, capsys, monkeypatch):
        place = "campaigns.records.target.utilisation.unit_count"
        monkeypatch.setattr(place, lambda platform: None)
        code, message = refusal(*USED, "50", "--bytes", "1e8", "--blocks", "7")
        assert code == ExitCode.NO_APPROVED_VALUE
        assert message.startswith(f"units: {UNKNOWN}: no approved sm_count or cu_count of h200-sxm")
        assert "waves" not in capsys.readouterr().out

    def test_law_1_a_value_whose_line_changed_is_none(self):
        spec = Spec.objects.get(platform__slug="h200-sxm", metric="memory_bandwidth")
        Flag.objects.create(spec=spec, kind="changed", note="it reads otherwise")
        code, message = refusal(*USED, "50", "--bytes", "1e8")
        assert code == ExitCode.NO_APPROVED_VALUE
        assert "the citation of memory_bandwidth of h200-sxm no longer holds" in message

    @pytest.mark.parametrize(
        ("words", "code", "said"),
        [
            ((*USED, "50"), 1, "work: accepted: --flops, --bytes or both"),
            ((*USED, "-1", "--flops", "1"), 1, "--time-us: -1; accepted: a finite number above"),
            ((*USED, "nan", "--flops", "1"), 1, "--time-us: nan; accepted: a finite number above"),
            ((*USED, "1", "--flops", "much"), 1, "--flops: much; accepted: a finite number above"),
            ((*USED, "1", "--flops", "1", "--blocks", "0"), 1, "--blocks: 0; accepted: a whole"),
            ((*USED[:4], "bf16", "--time-us", "1"), 1, "invalid choice: 'bf16'"),
        ],
    )
    def test_it_refuses_what_is_no_work(self, words, code, said):
        found = refusal(*words)
        assert found[0] == code
        assert said in found[1]

    def test_it_names_the_platforms_that_there_are(self):
        code, message = refusal(
            *("utilisation", "--platform", "h900", "--dtype", "bfloat16"),
            *("--time-us", "1", "--flops", "1"),
        )
        assert code == ExitCode.NOT_FOUND
        assert "h200-sxm" in message


def measured(*samples: Sample) -> Result:
    return Result(
        device="cpu",
        name="x",
        host="h",
        measured_at="t",
        command="c",
        versions={},
        clocks={},
        samples=samples,
        ceilings=swept(samples, 32 * MIB),
        notes=("the host was busy",),
    )


def copies(mib, rate, metric="copy_bandwidth"):
    return Sample(metric, "", "plain", 2, mib * MIB, (rate / 2, rate))


@pytest.fixture
def device(monkeypatch):
    monkeypatch.setattr(tool, "this_device", lambda choice: cast.DEVICE)
    return cast.DEVICE


def test_r5_it_prints_the_sweep_of_copies(device, monkeypatch, capsys):
    every = measured(copies(4, 9e10), copies(64, 4e10), copies(64, 5e10, "read_bandwidth"))
    monkeypatch.setattr(tool, "measured_now", lambda found, size: every)
    found = answer(capsys, "bandwidth")
    assert found["bytes_convention"] == "read + written"
    assert [(one["working_set_bytes"], one["cache"]) for one in found["copies"]] == [
        (8 * MIB, "warm"),
        (128 * MIB, "cold"),
    ]
    first = found["copies"][0]
    assert first["bytes_per_s"] == first["read_bytes_per_s"] + first["written_bytes_per_s"] == 9e10
    call_command("tool", "bandwidth")
    said = capsys.readouterr()
    assert said.out.splitlines() == [
        f"{device.name} (cpu), bytes read + written",
        "   8.39 MB   90.0 GB/s  warm  plain, 2 threads, arrays of 4 MiB, best of 2",
        "    134 MB   40.0 GB/s  cold  plain, 2 threads, arrays of 64 MiB, best of 2",
    ]
    assert "note: the host was busy\n" in said.err


def test_r5_it_measures_the_working_set_that_is_asked_for(db, device, monkeypatch, capsys):
    sizes = []

    def measure(found, array_bytes):
        sizes.append(array_bytes)
        return measured(copies(4, 2e9))

    monkeypatch.setattr(tool, "measured_now", measure)
    found = answer(capsys, "ceiling", "--bytes", "8388607")
    assert sizes == [4 * MIB]
    assert (found["asked_bytes"], found["copy"]["working_set_bytes"]) == (8388607, 8 * MIB)
    assert found["cited"] == []
    call_command("tool", "ceiling", "--bytes", "8388607")
    assert f"cited bandwidth: {UNKNOWN}" in capsys.readouterr().out


def test_it_puts_the_cited_bandwidth_beside_the_measured_one(db, device, monkeypatch, capsys):
    cited = replace(cast.BANDWIDTH, value=4e9)
    monkeypatch.setattr(tool, "measured_now", lambda *_: measured(copies(4, 2e9)))
    monkeypatch.setattr(tool, "platform_for_device", lambda name: Platform())
    monkeypatch.setattr(tool, "bandwidth_ceilings", lambda platform: [cited])
    call_command("tool", "ceiling", "--bytes", "8388608")
    assert f"50 % of {cited.citation}\n" in capsys.readouterr().out
    assert answer(capsys, "ceiling", "--bytes", "8388608")["cited"][0]["share"] == 0.5


@pytest.mark.parametrize("error", [CeilingsError("cpu: no compiler"), DeviceBusy("held")])
def test_it_says_why_nothing_could_be_measured(device, monkeypatch, error):
    def fail(*_):
        raise error

    monkeypatch.setattr(tool, "measured_now", fail)
    assert refusal("bandwidth") == (ExitCode.USAGE, str(error))
    assert refusal("ceiling", "--bytes", "0")[0] == ExitCode.USAGE


@pytest.fixture
def timed(monkeypatch, tmp_path):
    """Time a file with this text, which the fake judge reads; change: of its report."""
    place = "campaigns.management.one_file"
    monkeypatch.setattr(f"{place}.this_device", lambda choice: cast.DEVICE)
    problem = str(cast.write_problem(tmp_path))

    def words(text, *options, change=lambda report: report):
        class Told(Service):
            def evaluate(self, job, beat=None):
                return change(super().evaluate(job))

        monkeypatch.setattr(f"{place}.EvaluatorService", Told)
        kernel = tmp_path / "kernel.cpp"
        kernel.write_text(text)
        return "time", str(kernel), "--problem", problem, *options

    return words


def test_r10_it_gives_quantiles_with_device_and_count(timed, capsys):
    def spread_out(report):
        cases = tuple(
            replace(
                c,
                candidate=replace(
                    c.candidate, samples_us=tuple(map(float, range(11))), warm_us=1.5
                ),
            )
            for c in report.cases
        )
        return replace(report, cases=cases)

    words = timed("time 70", "--case", "two", change=spread_out)
    found = answer(capsys, *words)
    (case,) = found["cases"]
    assert (case["case"], case["n"]) == ("two", 11)
    assert (case["p20_us"], case["p50_us"], case["p80_us"]) == (2.0, 5.0, 8.0)
    assert found["device_name"] == cast.DEVICE.name
    call_command("tool", *words)
    said = capsys.readouterr()
    assert said.out.startswith(f"tiny, kernel.cpp on {cast.DEVICE.name} (cpu)\n  two")
    assert "p20 2.00 µs, p50 5.00 µs, p80 8.00 µs (n=11, " in said.out
    assert "; warm 1.50 µs\n" in said.out
    assert "kernel.cpp on" in said.err


@pytest.mark.parametrize("text", ["wrong", "crash", "build"])
def test_law_3_there_is_no_time_of_what_is_not_right(timed, text, capsys):
    assert refusal(*timed(text))[0] == ExitCode.NOT_ACCEPTED
    assert capsys.readouterr().out == ""


def test_it_tells_what_was_not_timed_and_whose_fault_it_is(timed):
    def untimed(report):
        return replace(report, cases=tuple(replace(c, candidate=None) for c in report.cases))

    assert refusal(*timed("time 70", change=untimed)) == (
        ExitCode.NOT_ACCEPTED,
        f"cpp is not timed on {cast.DEVICE.name}",
    )

    def faulty(report):
        fault = (Outcome.BROKEN_HOST, Phase.START, "ref.py:2: no")
        return Report(report.job_id, *fault, problem_fault=True)

    assert refusal(*timed("time 70", change=faulty)) == (ExitCode.USAGE, "problem: ref.py:2: no")
