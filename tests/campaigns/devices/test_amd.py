"""Who uses an AMD card, from what its programs print. The texts are written after their forms."""

import json
import subprocess

import pytest

from campaigns.devices import amd
from campaigns.rules.noise.device_gate import MIB, Activity

BUS, OTHER = "0000:0c:00.0", "0000:22:00.0"
LISTED = [
    {"gpu": 0, "bdf": BUS, "uuid": "c0ff0000-0000-1000-8000-000000000001", "node_id": 2},
    {"gpu": 1, "bdf": OTHER, "uuid": "c0ff0000-0000-1000-8000-000000000002", "node_id": 3},
]


def metric(gpu, busy, used):
    return {
        "gpu": gpu,
        "usage": {"gfx_activity": busy, "umc_activity": {"value": 0, "unit": "%"}},
        "mem_usage": {"total_vram": {"value": 196288, "unit": "MB"}, "used_vram": used},
    }


METRIC = [
    metric(0, {"value": 0, "unit": "%"}, {"value": 283, "unit": "MB"}),
    metric(1, {"value": 97, "unit": "%"}, {"value": 2531, "unit": "MB"}),
]
NONE = {"process_info": "No running processes detected"}
PROCESS = [
    {"gpu": 0, "process_list": [NONE]},
    {
        "gpu": 1,
        "process_list": [
            {"process_info": {"name": "python3", "pid": 52, "memory_usage": {}}},
            {"process_info": {"name": "server", "pid": "4711"}},
        ],
    },
]
IDLE, BUSY = Activity((), 0.0, 283 * MIB), Activity((52, 4711), 97.0, 2531 * MIB)


def parsed(bus, listed=LISTED, metric=METRIC, process=PROCESS):
    return amd.parse_amd_smi(json.dumps(listed), json.dumps(metric), json.dumps(process), bus)


@pytest.mark.parametrize(("bus", "seen"), [(BUS, IDLE), (OTHER, BUSY), ("0000:99:00.0", None)])
def test_it_reads_amd_smi(bus, seen):
    assert parsed(bus) == seen


def test_it_reads_the_newer_form_that_wraps_the_cards():
    assert parsed(OTHER, metric={"gpu_data": METRIC}, process={"gpu_data": PROCESS}) == BUSY


def test_it_reads_bare_numbers():
    assert parsed(BUS, metric=[metric(0, 3, 283)]) == Activity((), 3.0, 283 * MIB)


@pytest.mark.parametrize(
    ("told", "seen"),
    [
        ({"metric": []}, Activity((), None, None)),
        ({"metric": [metric(0, "N/A", "N/A")]}, Activity((), None, None)),
        ({"metric": [{"gpu": 0, "usage": "N/A", "mem_usage": "N/A"}]}, Activity((), None, None)),
        ({"process": []}, Activity(None, 0.0, 283 * MIB)),
        ({"process": [{"gpu": 0, "process_list": "N/A"}]}, Activity(None, 0.0, 283 * MIB)),
        # One that is there and can not be named is not nobody.
        (
            {"process": [{"gpu": 0, "process_list": [{"process_info": {"pid": "N/A"}}]}]},
            Activity(None, 0.0, 283 * MIB),
        ),
        (
            {"process": [{"gpu": 0, "process_list": [{"process_info": "N/A"}]}]},
            Activity(None, 0.0, 283 * MIB),
        ),
        ({"process": [{"gpu": 0, "process_list": []}]}, IDLE),
    ],
)
def test_it_guesses_nothing_that_amd_smi_does_not_tell(told, seen):
    assert parsed(BUS, **told) == seen


@pytest.mark.parametrize("text", ["", "not JSON", "{", "[1, 2]", "null", '{"gpu_data": 7}'])
def test_it_makes_nothing_of_what_is_no_answer(text):
    assert amd.parse_amd_smi(text, text, text, BUS) is None
    assert amd.parse_rocm_smi(text, BUS) is None


def test_it_overlooks_warnings_around_the_answer():
    text = f"WARNING: run as root [for more]\n{json.dumps(LISTED)}\nbye\n"
    assert amd.parse_amd_smi(text, json.dumps(METRIC), json.dumps(PROCESS), BUS) == IDLE


def card(bus, busy="0", used="27856896"):
    return {
        "PCI Bus": bus,
        "GPU use (%)": busy,
        "VRAM Total Memory (B)": "21458059264",
        "VRAM Total Used Memory (B)": used,
    }


WORKS = {"PID28389": "a, name, 1, 2353860608, 11011, 0", "PID9": "waits, 0, 0, 0, 0"}


@pytest.mark.parametrize(
    ("cards", "system", "seen"),
    [
        ([card(BUS.upper())], None, Activity((), 0.0, 27856896)),
        ([card(BUS, "83")], WORKS, Activity((28389,), 83.0, 27856896)),
        ([card(BUS), card(OTHER)], None, Activity((), 0.0, 27856896)),
        # It does not tell which card a process uses.
        ([card(BUS), card(OTHER)], WORKS, Activity(None, 0.0, 27856896)),
        (
            [card(BUS)],
            {"PID5": "x, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN"},
            Activity((5,), 0.0, 27856896),
        ),
        ([card(BUS, "N/A", "N/A")], None, Activity((), None, None)),
        ([card(OTHER)], None, None),
    ],
)
def test_it_reads_rocm_smi(cards, system, seen):
    told = {f"card{place}": row for place, row in enumerate(cards)}
    text = json.dumps(told | ({"system": system} if system else {}))
    assert amd.parse_rocm_smi(text, BUS) == seen


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("00000000:0C:00.0", "0000:0c:00.0", True),
        ("0c:00.0", "0000:0c:00.0", True),
        ("0001:0c:00.0", "0000:0c:00.0", False),
        ("", "", False),
        ("None", "0000:0c:00.0", False),
    ],
)
def test_it_knows_an_address_in_its_spellings(one, other, same):
    assert amd.same_bus(one, other) is same


@pytest.mark.parametrize(
    ("programs", "seen"),
    [
        ((), None),
        (("amd-smi",), IDLE),
        (("rocm-smi",), Activity((), 0.0, 27856896)),
        (("amd-smi", "rocm-smi"), IDLE),
    ],
)
def test_it_asks_the_programs_that_are_there(monkeypatch, programs, seen):
    said = {"list": LISTED, "metric": METRIC, "process": PROCESS, "--showbus": {"card0": card(BUS)}}

    def answer(command, **_):
        assert command[0] in programs
        assert command[-1] == "--json"
        return subprocess.CompletedProcess(command, 0, json.dumps(said[command[1]]), "")

    monkeypatch.setattr("shutil.which", lambda name: name if name in programs else None)
    monkeypatch.setattr(subprocess, "run", answer)
    assert amd.look(BUS) == seen


@pytest.mark.parametrize("failure", [OSError("gone"), subprocess.TimeoutExpired("amd-smi", 10), 1])
def test_it_goes_on_where_a_program_fails(monkeypatch, failure):
    def answer(command, **_):
        if isinstance(failure, Exception):
            raise failure
        return subprocess.CompletedProcess(command, failure, json.dumps(LISTED), "")

    monkeypatch.setattr("shutil.which", lambda name: name)
    monkeypatch.setattr(subprocess, "run", answer)
    assert amd.look(BUS) is None


STATIC = [
    {
        "gpu": 0,
        "asic": {"market_name": "AMD Instinct MI300X", "target_graphics_version": "gfx942"},
        "vram": {"type": "HBM", "size": {"value": 196592, "unit": "MB"}},
    },
    {"gpu": 1, "asic": {"market_name": "N/A"}, "vram": "N/A"},
]
MI300X = amd.AmdCard(0, BUS, LISTED[0]["uuid"], "AMD Instinct MI300X", "gfx942", 196592 * MIB)
UNTOLD = amd.AmdCard(1, OTHER, LISTED[1]["uuid"], "AMD GPU", "", 0)


@pytest.mark.parametrize(
    ("listed", "static", "found"),
    [
        (LISTED, STATIC, [MI300X, UNTOLD]),
        (LISTED, {"gpu_data": STATIC}, [MI300X, UNTOLD]),
        (LISTED[1:], [], [UNTOLD]),
        ([{"gpu": 0, "bdf": "N/A"}, {"bdf": BUS}], STATIC, []),
        ([], STATIC, []),
    ],
)
def test_r8_it_finds_cards_by_amd_smi(listed, static, found):
    assert amd.parse_amd_cards(json.dumps(listed), json.dumps(static)) == found


def test_r8_it_finds_cards_by_rocm_smi():
    told = {
        "card1": {"PCI Bus": OTHER, "Card Series": "N/A", "Unique ID": "N/A"},
        "card0": card(BUS) | {"Card Series": "AMD Instinct MI250X", "GFX Version": "gfx90a",
                              "Unique ID": "0x3d45"},
        "card2": {"Card Series": "without an address"},
        "system": {},
    }  # fmt: skip
    assert amd.parse_rocm_cards(json.dumps(told)) == [
        amd.AmdCard(0, BUS, "0x3d45", "AMD Instinct MI250X", "gfx90a", 21458059264),
        amd.AmdCard(1, OTHER, OTHER, "AMD GPU", "", 0),
    ]


@pytest.mark.parametrize("text", ["", "not JSON", "{", "[1, 2]", "null", '{"gpu_data": 7}'])
def test_it_finds_no_card_in_what_is_no_answer(text):
    assert amd.parse_amd_cards(text, text) == []
    assert amd.parse_rocm_cards(text) == []


def test_it_asks_the_one_program_where_the_other_says_nothing(monkeypatch):
    told = {"card0": card(BUS)}
    monkeypatch.setattr(amd.shutil, "which", lambda program: f"/usr/bin/{program}")
    monkeypatch.setattr(
        amd, "_ask", lambda program, *words: json.dumps(told) if program == "rocm-smi" else ""
    )
    assert [one.pci_bus for one in amd.cards()] == [BUS]
    monkeypatch.setattr(amd.shutil, "which", lambda program: None)
    assert amd.cards() == []
