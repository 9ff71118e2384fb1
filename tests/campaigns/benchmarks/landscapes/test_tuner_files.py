"""Files of Kernel Tuner, in and out."""

import json

import pytest

from campaigns.benchmarks.landscapes.landscape import LandscapeError
from campaigns.benchmarks.landscapes.replay import read_any
from campaigns.benchmarks.landscapes.tuner_files import INVALIDITY, read_cache, read_t4, write_cache
from campaigns.strategies.base import SearchTrial, TrialFailure
from tests.campaigns.benchmarks.landscapes.samples import KNOBS, sample_landscape

# As version 1.5 writes it while it works: no end, times in ms, a failure as the name of a class.
OPEN = """{
"device_name": "A card",
"kernel_name": "copy",
"problem_size": [
1024,
1
],
"tune_params_keys": [
"block_size_x"
],
"tune_params": {
"block_size_x": [
32,
64
]
},
"objective": "time",
"cache": {
"32": {"block_size_x": 32, "time": 0.5, "times": [0.5], "GB/s": 2.5, "benchmark_time": 9.0},
"64": {"block_size_x": 64, "time": "RuntimeFailedConfig"},"""


def t4_text(landscape):
    """The same as T4 results have it."""
    names = {failure: name for name, failure in INVALIDITY.items()}
    results = []
    for row in landscape.rows():
        measured = [{"name": name, "value": value, "unit": ""} for name, value in row.facts.items()]
        failure, time_us = row.trial.failure, row.trial.time_us
        if time_us is not None:
            measured.append({"name": "time", "value": time_us, "unit": "us"})
        results.append(
            {
                "configuration": dict(zip(landscape.header.names, row.values, strict=True)),
                "times": {"runtimes": []},
                "invalidity": names[failure] if failure else "correct",
                "correctness": 0 if failure is TrialFailure.WRONG else 1,
                "measurements": measured,
                "objectives": ["time"],
            }
        )
    head = {"schema_version": "1.0.0", "metadata": {"timeunit": "us"}, "results": results}
    return json.dumps(head, indent=1)


def written(tmp_path, text, name="x.json"):
    path = tmp_path / name
    path.write_text(text)
    return path


def test_a_cache_comes_back_as_it_was(tmp_path):
    landscape = sample_landscape()
    again = read_cache(written(tmp_path, write_cache(landscape)))
    assert again.rows() == landscape.rows()
    assert again.header.knobs == KNOBS
    assert (again.header.kernel, again.header.device) == ("softmax", "a processor")


def test_a_cache_ends_as_kernel_tuner_looks_for_it_and_has_its_keys():
    text = write_cache(sample_landscape())
    assert text.endswith("}\n}")
    data = json.loads(text)
    assert list(data)[-1] == "cache"
    assert data["cache"]["16,0.5,-O2,False"]["time"] == 0.01025
    assert data["cache"]["64,0.5,-O2,False"]["__error__"] == "CompilationFailedConfig"


@pytest.mark.parametrize("end", ["", "}\n}"])
def test_a_cache_is_read_while_it_is_open_and_after(tmp_path, end):
    text = OPEN if not end else OPEN.removesuffix(",") + end
    found = read_cache(written(tmp_path, text))
    measured, crashed = found.rows()
    assert (measured.trial, measured.facts) == (SearchTrial(time_us=500.0), {"GB/s": 2.5})
    assert crashed.trial == SearchTrial(failure=TrialFailure.CRASHED)
    assert (found.header.device, found.header.cases) == ("A card", ("[1024, 1]",))


def test_results_of_t4_come_back_as_they_were(tmp_path):
    landscape = sample_landscape()
    again = read_t4(written(tmp_path, t4_text(landscape), "softmax.json"))
    assert again.rows() == landscape.rows()
    assert again.header.knobs == KNOBS
    assert again.header.kernel == "softmax"


def test_a_file_is_known_by_its_name_and_content(tmp_path):
    landscape = sample_landscape()
    landscape.save(tmp_path / "x.csv.gz")
    for path in (
        tmp_path / "x.csv.gz",
        written(tmp_path, write_cache(landscape), "cache.json"),
        written(tmp_path, t4_text(landscape), "t4.json"),
    ):
        assert read_any(path).rows() == landscape.rows()
    with pytest.raises(LandscapeError, match=r"x\.txt: \.csv, or \.json of Kernel Tuner"):
        read_any(tmp_path / "x.txt")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("32,\n64", "32,\n32", "cache entry 64, field block_size_x: 64; accepted: 32"),
        ("0.5, ", '"slow", ', "cache entry 32, field __error__: 'slow'; accepted: InvalidConfig"),
        ("0.5, ", "-1, ", "cache entry 32, field time: -1; accepted: a positive number"),
        ("0.5, ", "NaN, ", "cache entry 32, field time: nan; accepted: a positive number"),
        ('"tune_params":', '"params":', "field tune_params: an object is accepted"),
        ("[\n32,\n64\n]", "[[32], 64]", "tune_params, block_size_x: .* a list of numbers, texts"),
        ("[\n32,\n64\n]", "[]", "tune_params, block_size_x: "),
        ('"64": {', '"64": [{', "line 20: "),
        ('{"block_size_x": 64, "time": "RuntimeFailedConfig"}', "7", "entry 64: an object is"),
    ],
)
def test_a_broken_cache_is_told_where_and_what_is_accepted(tmp_path, old, new, message):
    assert old in OPEN
    path = written(tmp_path, OPEN.replace(old, new, 1))
    with pytest.raises(LandscapeError, match=message) as refused:
        read_cache(path)
    assert str(refused.value).startswith(str(path))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"correct"', '"fine"', "result 1, field invalidity: 'fine'; accepted: correct, timeout"),
        ('"unit": "us"', '"unit": "weeks"', "result 1, field measurements, time, unit: 'weeks'"),
        ('"value": 10.25', '"value": null', "result 1, field measurements, time: None"),
        ('"name": "time"', '"name": "tame"', "result 1, field measurements: None; accepted: one"),
        ('"TILE": 16', '"TILE": [16]', "result 1, field configuration, TILE: "),
        ('"TILE": 16', '"TYLE": 16', "result 1, configuration, field TILE: None; accepted"),
        ('"results"', '"result"', "field results: a list is accepted"),
        ('"measurements": [', '"measurements": [7,', "result 1, field measurements: 7"),
    ],
)
def test_broken_results_are_told_where_and_what_is_accepted(tmp_path, old, new, message):
    text = t4_text(sample_landscape())
    assert old in text
    path = written(tmp_path, text.replace(old, new, 1))
    with pytest.raises(LandscapeError, match=message) as refused:
        read_t4(path)
    assert str(refused.value).startswith(str(path))
