"""Tuning files in the T1 format become problems with knobs."""

import json
import tomllib

import pytest

from campaigns.evaluator.contract import Source
from campaigns.problems.import_.collection import names_beside, read_collection
from campaigns.problems.import_.draft import DraftError, Role
from campaigns.problems.import_.tuning_file import kernel_file, read_tuning
from campaigns.problems.import_.write import written
from campaigns.spaces.constraints import DeviceLimits
from campaigns.spaces.find import space_of

FILE = {
    "General": {"BenchmarkName": "scaled sum", "FormatVersion": "0.0.1"},
    "ConfigurationSpace": {
        "TuningParameters": [
            {"Name": "BLOCK", "Type": "int", "Values": "[32, 64, 128]", "Default": 64},
            {"Name": "ITEMS", "Type": "int", "Values": "list(range(1, 4 + 1))"},
        ],
        "Conditions": [
            {"Expression": "BLOCK * ITEMS <= 256 and BLOCK >= 64"},
            {"Expression": "BLOCK in (32, 64)"},
        ],
    },
    "KernelSpecification": {
        "Language": "CUDA",
        "KernelName": "scaled_sum",
        "KernelFile": "sum.cu",
        "GlobalSizeType": "OpenCL",
        "GlobalSize": {"X": "4096 // ITEMS"},
        "LocalSize": {"X": "BLOCK"},
        "Arguments": [
            {"Name": "c", "Type": "float", "MemoryType": "Vector", "AccessType": "WriteOnly",
             "Size": 4096},
            {"Name": "a", "Type": "float", "MemoryType": "Vector", "AccessType": "ReadOnly",
             "Size": 4096, "FillType": "Random"},
            {"Name": "f", "Type": "float", "MemoryType": "Scalar", "FillValue": 2.5},
            {"Name": "n", "Type": "int32", "MemoryType": "Scalar", "FillValue": 4096},
        ],
    },
}  # fmt: skip
KERNEL = """
__global__ void scaled_sum(float* c, const float* a, float f, int n) {
  int first = (blockIdx.x * BLOCK + threadIdx.x) * ITEMS;
  for (int i = first; i < first + ITEMS && i < n; ++i) c[i] = a[i] * f + 1.0f;
}
"""
REFERENCE = ("ref.py", "def right(x, factor):\n    return x * factor + 1\n")


def read(change=None, kernel=KERNEL, reference=REFERENCE):
    found = json.loads(json.dumps(FILE))
    for path, value in (change or {}).items():
        place = found
        *inner, last = path.split(".")
        for name in inner:
            place = place[int(name) if name.isdigit() else name]
        place[last] = value
    return read_tuning(json.dumps(found), kernel, reference)


def test_it_tells_a_tuning_file_and_its_kernel():
    text = json.dumps(FILE)
    assert kernel_file(text) == "sum.cu"
    assert names_beside("t1.json", text) == ("sum.cu",)
    assert names_beside("t1.json", '{"axes": {}}') == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"cache": {}, "tune_params": {}}', "x.json: not recognised; accepted: one JSON of Fla"),
        ("[1, 2]", "x.json: not recognised; accepted: one JSON of FlashInfer Trace"),
        ("{", "x.json: no JSON: Expecting property name"),
        ("[" * 9999, "x.json: no JSON: "),
        ('{"axes": {}}', "axes: an object of objects is needed"),
    ],
)
def test_a_json_of_nobody_is_not_recognised_and_what_is_accepted_is_said(text, said):
    with pytest.raises(DraftError) as refused:
        read_collection({"x.json": text})
    assert said in refused.value.message


@pytest.mark.parametrize(
    ("given", "values"),
    [
        ("[8 * i for i in range(1, 4)]", [8, 16, 24]),
        ("[2**i for i in range(4)]", [1, 2, 4, 8]),
        ("[i for i in range(1, 10) if i % 3 == 0]", [3, 6, 9]),
        ("list(32 + i for i in (1, 2))", [33, 34]),
        ("[1, 2] + [4 * i for i in range(1, 3)]", [1, 2, 4, 8]),
        ("range(2, 7, 2)", [2, 4, 6]),
    ],
)
def test_values_of_a_parameter_are_read_as_python_writes_them(given, values):
    change = {"ConfigurationSpace.TuningParameters": [{"Name": "ITEMS", "Values": given}]}
    one_of = " || ".join(f"ITEMS == {value}" for value in values)
    more = {"ConfigurationSpace.Conditions": [], "KernelSpecification.LocalSize": {"X": "64"}}
    assert f"static_assert({one_of}," in read(change | more).kernels["cuda"][1]


def test_sizes_are_formulas_of_the_problem_size_and_of_parameters():
    size = "(ProblemSize[0] + max(ITEMS) - 1) * min(BLOCK)"
    listed = [dict(one) for one in FILE["KernelSpecification"]["Arguments"]]
    listed[0]["Size"] = listed[1]["Size"] = size
    listed[3]["FillValue"] = size
    change = {
        "KernelSpecification.Arguments": listed,
        "KernelSpecification.ProblemSize": [61, 4],
        "KernelSpecification.GlobalSize": {"X": "ProblemSize[0] // ITEMS", "Y": "max(ITEMS)"},
    }
    draft = read(change)
    assert draft.cases == {"2048": {"N": 2048}}  # (61 + 4 - 1) * 32
    assert draft.args[3].value == "N"
    assert "(61 / ITEMS)" in draft.kernels["cuda"][1]


def test_vectors_and_numbers_are_arguments_and_the_kernel_is_launched():
    draft = read()
    assert [(arg.name, arg.role) for arg in draft.args] == [
        ("c", Role.OUTPUT), ("a", Role.INPUT), ("f", Role.NUMBER), ("n", Role.NUMBER),
    ]  # fmt: skip
    assert draft.cases == {"4096": {"N": 4096}}
    assert [arg.value for arg in draft.args[2:]] == [2.5, "N"]
    text = draft.kernels["cuda"][1]
    assert 'extern "C" void solve(float* c, const float* a, float f, int n) {' in text
    assert "dim3 blocks((((n / ITEMS)) + (BLOCK) - 1) / (BLOCK)," in text
    assert "scaled_sum<<<blocks, threads, 0>>>(c, const_cast<float*>(a), f, n);" in text


def test_a_size_that_the_kernel_is_not_given_is_added():
    draft = read({"KernelSpecification.Arguments": FILE["KernelSpecification"]["Arguments"][:3]})
    text = draft.kernels["cuda"][1]
    assert "solve(float* c, const float* a, float f, int N) {" in text
    assert "(N / ITEMS)" in text
    assert ">>>(c, const_cast<float*>(a), f);" in text


def test_the_reference_computes_the_answer_from_the_inputs_in_order():
    files = written(read())
    assert tomllib.loads(files["problem.toml"])["files"] == {"cuda": "v0.cu"}
    made = {}
    exec(files["ref.py"], made)
    inputs = made["setup"](N=8, seed=1, device="cpu")["inputs"]
    assert [*inputs] == ["c", "a", "f", "n"]
    made["reference"](**inputs)
    assert (inputs["c"] - inputs["a"] * 2.5 - 1).abs().max() < 1e-6


def test_the_search_finds_the_parameters_as_knobs_within_the_conditions():
    draft = read()
    space = space_of(Source("v0.cu", draft.kernels["cuda"][1]), "cuda", DeviceLimits())
    knobs = {knob.name: knob for knob in space.knobs}
    assert {"BLOCK", "ITEMS"} <= {*knobs}
    assert knobs["BLOCK"].default == 64
    present = {knob.name: knob.default for knob in space.knobs}

    def holds(**values):
        return all(each.holds(present | values) for each in space.constraints)

    assert holds(BLOCK=128, ITEMS=2)
    assert not holds(BLOCK=256)  # none of its values
    assert not holds(BLOCK=128, ITEMS=4)  # more than 256 together
    assert any(words.startswith("Left out: the condition") for words in draft.assumed)


@pytest.mark.parametrize(
    ("change", "reference", "field"),
    [
        ({}, ("", ""), "reference"),
        ({}, ("r.py", "def f(a, b, c, d, e):\n    return a\n"), "reference"),
        ({"KernelSpecification.Language": "OpenCL"}, REFERENCE, "definition"),
        ({"KernelSpecification.KernelName": "a b"}, REFERENCE, "definition"),
        ({"KernelSpecification.GlobalSize": {"X": "ceil(3)"}}, REFERENCE, "definition"),
        ({"KernelSpecification.Arguments": []}, REFERENCE, "definition"),
        ({"KernelSpecification.Arguments": [{"MemoryType": "Vector", "Size": "n"}]}, REFERENCE,
         "definition"),
        ({"KernelSpecification.Arguments": [{"MemoryType": "Vector", "Size": 4, "Type": "float4"}]},
         REFERENCE, "definition"),
        ({"ConfigurationSpace.TuningParameters": [{"Name": "B", "Values": "open(1)"}]}, REFERENCE,
         "definition"),
        ({"ConfigurationSpace.TuningParameters": [{"Name": "B", "Values": "range(10000000)"}]},
         REFERENCE, "definition"),
        *(
            ({"ConfigurationSpace.TuningParameters": [{"Name": "B", "Values": text}]}, REFERENCE,
             "definition")
            for text in ("[i for i in open(1)]", "[i for i in range(9) for j in range(9)]",
                         "[9**99**i for i in range(9)]", "[i for i in range(10**9)]")
        ),
        ({"ConfigurationSpace.TuningParameters": [{"Name": "B", "Values": [1], "Default": 2}]},
         REFERENCE, "definition"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(change, reference, field):
    with pytest.raises(DraftError) as refused:
        read(change, reference=reference)
    assert refused.value.field == field
    assert "\n" not in refused.value.message
