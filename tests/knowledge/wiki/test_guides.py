"""The guides of the wiki (profiling, operators, backends): complete, linked, sourced, readable."""

import hashlib
import posixpath
import re
from collections import Counter
from dataclasses import dataclass

import pytest

from campaigns.evaluator.contract.backends import every as backends
from campaigns.proposers.recipes.base import recipes
from knowledge.exchange.importer import SHIPPED, read_folder
from knowledge.specs.reader import read_page
from knowledge.views.document import render_markdown

FOLDERS = ("docs/profiling/", "docs/ops/", "docs/backends/")
FILES = read_folder(SHIPPED)
GUIDES = {path: text for path, text in FILES.items() if path.startswith(FOLDERS)}
LINK = re.compile(r"\[(?P<text>[^\]]+)\]\((?P<target>[^)\s]+)\)")

NVIDIA_STALLS = """barrier branch_resolving dispatch_stall drain imc_miss lg_throttle
long_scoreboard math_pipe_throttle membar mio_throttle misc no_instruction not_selected selected
short_scoreboard sleeping tex_throttle wait warpgroup_arrive"""
AMD_STALLS = """NO_INSTRUCTION_AVAILABLE ALU_DEPENDENCY WAITCNT INTERNAL_INSTRUCTION BARRIER_WAIT
ARBITER_NOT_WIN ARBITER_WIN_EX_STALL OTHER_WAIT SLEEP_WAIT"""
PC_SAMPLING = "(PC sampling overview)"

# How many metrics each section of Nsight Compute names, and the SHA-256 of the sorted names of
# each vendor, one a line: 330 names are too many to repeat here.
SECTION_COUNTS = {
    "SpeedOfLight": 13,
    "SpeedOfLight_RooflineChart": 17,
    "ComputeWorkloadAnalysis": 70,
    "MemoryWorkloadAnalysis": 13,
    "SchedulerStats": 7,
    "WarpStateStats": 24,
    "Occupancy": 29,
    "LaunchStats": 23,
    "InstructionStats": 7,
    "WorkloadDistribution": 18,
    "SourceCounters": 76,
}
NVIDIA_NAMES = "dc55176720ac53930ef6859e4ddc062a3a7c41cddf441872e8237542bc8d5d3d"
AMD_NAMES = "6d4511babd7061e7aeaaf184e26350f3f3bbbf168125af4fdbd30ca85efc313b"

STRATEGIES = {
    "cu": """fuse coalesce align vec128 readonly l2.persist smem.tile smem.pad smem.swizzle
    smem.rowcache reg.rowcache cpasync tma online blockperrow constmem streams tensor fma strength
    fastmath diverge unroll loopxf coarsen regtile ktiles lut block shuffle syncwarp ilp spill
    smemspill graph persistent splitk warpspec cluster fence swizzle.grid sizes flags anti.pad_cost
    anti.compute_when_mem>90 anti.unroll_no_ipc anti.occupancy_goal anti.multi_change
    anti.1024_threads anti.smaller_tiles_for_grid""",
    "tr": """tile warps stages hints blockptr mask swizzle fuse dot precision acc32 exp2 prescale
    qtile fusedims hoist persist splitk rowonce rowsper wpe noieee constexpr
    anti.blockk_kills_stages anti.warps_on_bw anti.stages_ge3_default
    anti.interblock_barrier_by_atomics anti.percall_transpose""",
    "ge": """1.decomp 1.widek 1.broadcast 2.preshuffle 2.direct 2.offsets 2.trload 3.pingpong 3.ring
    3.a0 3.prodcons 4.xor 4.pad 4.ds2 5.async 5.vmcnt 6.sched 6.token 6.prio 6.tail 7.cshuffle
    7.splitlds 7.preissue 7.fuse 8.fold 8.pkatomic 8.preshuf 8.reducek 9.skinny 9.areuse
    10.blockscale 10.mx 10.mixed 10.w4 11.dispatch 11.twostage 11.sentinel 12.agpr 12.quantum
    12.liveness 13.xcd 13.wgm 13.persistid""",
    "at": """1.online 1.log2 1.rescale 1.guard 2.dma 2.kbuf 2.vtr 2.vt 3.kq 3.kpack 3.regs 3.vread
    4.imm 4.table 4.pair 5.peer 5.crosswarp 6.fp8p 6.fold 6.padp 7.tile 7.split 7.single 7.window
    7.gqa 8.dq 8.recompute 9.rope 9.fusekv 10.sched 10.state""",
    "fd": "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15",
    "dx": "probe compiler conflict algo cold",
    "any": "dispatch",
}
CATALOGUE = {f"{family}.{name}" for family, names in STRATEGIES.items() for name in names.split()}
COMMON_COLUMNS = ["check with", "typical failure"]
ID = re.compile(r"(any|cu|tr|ge|at|fd|dx|cpp)\.[\w.>]*\w")
FAMILY = re.compile(r"(ge|at)\.\d+")


@dataclass(frozen=True)
class Table:
    """One table of a document as written: cells of the header and of the rows."""

    path: str
    section: str
    header: list[str]
    rows: list[list[str]]


def tables(path):
    """The tables of a document, each with the section heading that it stands under."""
    found, block, section = [], [], ""
    for line in [*FILES[path].splitlines(), ""]:
        if line.startswith("|"):
            block.append([cell.strip() for cell in line.strip().strip("|").split("|")])
            continue
        if block:
            found.append(Table(path, section, block[0], block[2:]))
            block = []
        if line.startswith("## "):
            section = line[3:]
    return found


def column(found, name):
    """One column of a table by its heading, without backticks."""
    at = found.header.index(name)
    return [row[at].strip("`") for row in found.rows]


def first_column(path, heading):
    return [name for t in tables(path) if t.header[0] == heading for name in column(t, heading)]


def slug(heading):
    """The anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def digest(names):
    return hashlib.sha256("\n".join(sorted(set(names))).encode()).hexdigest()


def defined():
    """Every strategy row: its id and the document that it stands in."""
    return [(name, path) for path in GUIDES for name in first_column(path, "id")]


def test_it_ships_guides_in_all_three_folders():
    assert {path.rsplit("/", 1)[0] + "/" for path in GUIDES} == set(FOLDERS)


@pytest.mark.parametrize("path", GUIDES)
def test_it_has_a_title_and_speaks_of_no_platform(path):
    page = read_page(path, GUIDES[path])
    assert page.title
    assert (page.platform_slug, page.specs) == (None, ())


@pytest.mark.parametrize("path", GUIDES)
def test_it_links_only_to_what_exists(path):
    for link in LINK.finditer(GUIDES[path]):
        target, _, anchor = link["target"].partition("#")
        if target.startswith(("http://", "https://")):
            continue
        aim = (
            posixpath.normpath(posixpath.join(posixpath.dirname(path), target)) if target else path
        )
        assert aim in FILES, link[0]
        headings = [line.lstrip("# ") for line in FILES[aim].splitlines() if line.startswith("#")]
        assert not anchor or anchor in map(slug, headings), link[0]


@pytest.mark.parametrize("path", GUIDES)
def test_it_has_a_cell_for_every_column(path):
    for found in tables(path):
        for row in found.rows:
            assert len(row) == len(found.header), (found.section, row)


@pytest.mark.parametrize("path", GUIDES)
def test_it_keeps_its_tables_when_rendered(path):
    html = render_markdown(GUIDES[path])
    written = tables(path)
    cells = sum(len(row) for found in written for row in found.rows)
    assert html.count("<table>") == len(written)
    assert html.count("<th>") == sum(len(found.header) for found in written)
    assert html.count("<td>") == cells
    for found in written:
        for name in re.findall(r"`([^`]+)`", " ".join(found.rows[0])):
            assert name.replace(">", "&gt;").replace("<", "&lt;") in html


@pytest.mark.parametrize("path", GUIDES)
def test_it_gives_a_public_source_beside_every_threshold(path):
    for found in tables(path):
        if "threshold" in found.header:
            assert "source" in found.header
            assert [row for row in found.rows if "](https://" not in row[-1]] == []


@pytest.mark.parametrize("path", GUIDES)
def test_it_names_no_path_of_a_machine(path):
    assert re.findall(r"(?<![\w<])/(?:work|home|tmp|root)\b|\.\./shared", GUIDES[path]) == []


def test_it_defines_every_strategy_of_the_catalogue_exactly_once():
    counts = Counter(name for name, _ in defined())
    assert [name for name, count in counts.items() if count > 1] == []
    own = {name for name in counts if name.startswith("cpp.")}
    assert set(counts) - own == CATALOGUE
    assert own >= {name for name in recipes() if name.startswith("cpp.")}


def test_it_says_of_every_strategy_what_to_check_and_how_it_fails():
    for path in GUIDES:
        for found in tables(path):
            if found.header[0] == "id" and not column(found, "id")[0].count(".anti."):
                assert found.header[-2:] == COMMON_COLUMNS
                assert all(all(row) for row in found.rows), found.section


@pytest.mark.parametrize("path", GUIDES)
def test_it_names_only_strategies_that_are_defined_and_links_to_their_definition(path):
    homes = dict(defined())
    for code in re.findall(r"`([^`\n]+)`", GUIDES[path]):
        if ID.fullmatch(code) and not FAMILY.fullmatch(code):
            assert code in homes, code
    for link in LINK.finditer(GUIDES[path]):
        name = link["text"].strip("`")
        if name in homes:
            aim = posixpath.normpath(posixpath.join(posixpath.dirname(path), link["target"]))
            assert aim == homes[name], link[0]


def test_it_explains_every_stall_reason():
    path = "docs/profiling/stall-reasons.md"
    assert sorted(first_column(path, "reason")) == sorted(
        [*NVIDIA_STALLS.split(), *AMD_STALLS.split(), PC_SAMPLING]
    )


def test_it_leaves_the_remedies_of_amd_stalls_unknown():
    amd = next(
        found
        for found in tables("docs/profiling/stall-reasons.md")
        if found.section == "AMD: the reasons" and found.header[0] == "reason"
    )
    assert set(column(amd, "what usually helps")) == {"UNKNOWN"}


def test_it_lists_every_metric_of_nsight_compute():
    path = "docs/profiling/ncu-metrics.md"
    sections = re.findall(r"^Section `(\w+)`, (\d+) metrics", FILES[path], re.MULTILINE)
    assert {name: int(count) for name, count in sections} == SECTION_COUNTS
    assert [len(found.rows) for found in tables(path)] == list(SECTION_COUNTS.values())
    guide = "docs/profiling/ncu.md"
    rules = re.findall(r"`(rule:\w+)`", FILES[guide])
    names = [*first_column(path, "metric"), *first_column(guide, "metric"), *rules]
    assert digest(names) == NVIDIA_NAMES


def test_it_lists_every_counter_of_rocprof():
    path = "docs/profiling/rocprof.md"
    names = [*first_column(path, "formula"), *first_column(path, "counter")]
    assert len(names) == len(set(names)) == 31
    assert digest(names) == AMD_NAMES


def test_it_gives_each_metric_a_unit_and_a_meaning():
    for path in ("docs/profiling/ncu-metrics.md", "docs/profiling/ncu.md"):
        for found in tables(path):
            if found.header[0] == "metric":
                assert all([*column(found, "unit"), *column(found, "meaning")])


def test_it_has_a_document_for_each_backend_and_says_which_are_not_there():
    present = set(backends())
    written = {path.removeprefix("docs/backends/").removesuffix(".md") for path in GUIDES}
    assert present <= written
    for name, said in (("hip", "**no `hip` backend**"), ("flydsl", "**no FlyDSL backend**")):
        assert (said in FILES[f"docs/backends/{name}.md"]) is (name not in present)


def test_it_lists_every_recipe_with_its_backend():
    for name, recipe in recipes().items():
        text = FILES[f"docs/backends/{recipe.backend}.md"]
        assert f"| `{name}` |" in text, f"{name} has no row in docs/backends"
