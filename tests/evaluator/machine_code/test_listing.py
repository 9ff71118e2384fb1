"""Listings of disassemblers, counted: real ones of small kernels (listings/README.md)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.evaluator.contract import Resources
from campaigns.evaluator.machine_code import counting, listing
from campaigns.evaluator.machine_code.gcn_listing import amd_functions
from campaigns.evaluator.machine_code.kinds import OpKind

FOLDER = Path(__file__).parent / "listings"
LISTINGS = {path.stem: path.read_text() for path in sorted(FOLDER.glob("*.txt"))}
READERS = (listing.ptx_functions, listing.host_functions, listing.device_functions, amd_functions)
AXPY = "kopt::axpy(float, float const*, float*, int)"
OF_HOST = "\ncandidate.so:     file format elf64-x86-64\n\nDisassembly of section .text:\n"
ARITHMETIC = {
    OpKind.VECTOR_512,
    OpKind.VECTOR_256,
    OpKind.VECTOR_128,
    OpKind.VECTOR_SCALABLE,
    OpKind.SCALAR_FLOAT,
}


def host(name):
    return {f.name: f for f in listing.host_functions(LISTINGS[f"{name}.objdump"])}


def device(name):
    return {f.name: f for f in listing.device_functions(LISTINGS[f"{name}.nvdisasm"])}


def floats(function):
    return {kind: n for kind, n in function.kinds.items() if kind in ARITHMETIC}


def lines_of(*instructions, name="solve"):
    """A function of the host, as objdump writes it."""
    body = "".join(f"    {4096 + i:x}:\t{told}\n" for i, told in enumerate(instructions))
    return f"\n0000000000001000 <{name}>:\n{body}"


def test_r48_it_sees_that_a_loop_calls_a_function_and_takes_one_value_at_a_time():
    found = host("softmax_o2")
    assert list(found) == ["solve", "largest(float const*, int)"]
    assert found["solve"].instructions == 62
    assert found["solve"].calls == {"expf": 1, "largest(float const*, int)": 1}
    assert floats(found["solve"]) == {"scalar_float": 3}  # subss, addss, divss
    assert found["largest(float const*, int)"].calls == {"fmaxf": 1}


@pytest.mark.parametrize(
    ("name", "widths"),
    [
        ("axpy_v3", {"vector_256": 1, "vector_128": 1, "scalar_float": 3}),
        ("axpy_v4", {"vector_512": 1, "vector_256": 1, "scalar_float": 7}),
        ("axpy_aarch64", {"vector_128": 1, "scalar_float": 1}),
    ],
)
def test_r48_it_tells_how_wide_the_arithmetic_of_a_cpu_is(name, widths):
    found = host(name)
    assert floats(found[AXPY]) == widths
    assert found[AXPY].calls == {}


@pytest.mark.parametrize("name", ["axpy_v3", "axpy_v4"])
def test_it_takes_a_jump_to_another_function_for_a_call(name):
    solve = host(name)["solve"]
    assert (solve.instructions, solve.kinds, solve.calls) == (1, {"call": 1}, {AXPY: 1})


def test_it_reads_aarch64():
    found = host("axpy_aarch64")
    assert list(found) == [AXPY, "kopt::scalable(float const*, float*, int)", "solve"]
    assert found[AXPY].kinds == {
        "integer": 4,
        "branch": 3,
        "shuffle": 1,
        "other": 1,
        "memory": 5,
        "vector_128": 1,
        "scalar_float": 1,
    }
    # Its padding and the data behind it are no instructions.
    assert found["kopt::scalable(float const*, float*, int)"].instructions == 9
    assert floats(found["kopt::scalable(float const*, float*, int)"]) == {"vector_scalable": 1}
    assert found["solve"].calls == {"expf": 1, AXPY: 1}
    assert found["solve"].kinds == {"memory": 2, "call": 2}


def test_r48_it_sees_tensor_cores():
    product = device("product_sm_90a")["product"]
    assert product.kinds["matrix"] == 1  # HGMMA.64x16x16.F32
    assert product.kinds["shared_load"] == 4
    assert "float32" not in product.kinds
    assert product.widest_load_bytes == 16


def test_r48_it_sees_special_functions_shuffles_and_wide_loads():
    softmax = device("softmax_sm_90a")["softmax"]
    assert softmax.instructions == 0x500 // 16 + 1  # up to EXIT at 0x500, 16 bytes each
    assert softmax.kinds["float32"] == 52  # of which 18 hang on a predicate
    assert softmax.kinds["special"] == 5  # MUFU.EX2 four times, MUFU.RCP once
    assert softmax.kinds["shuffle"] == 10  # five of the maximum, five of the sum
    assert softmax.widest_load_bytes == 16
    assert softmax.kinds["global_load"] == softmax.kinds["global_store"] == 1


def test_it_names_what_a_kernel_calls_and_counts_it_in():
    division = device("division_sm_90a")["division"]
    assert division.calls == {"__cuda_sm3x_div_rn_noftz_f32_slowpath": 1}
    assert division.kinds["atomic"] == 1
    assert division.kinds["special"] == 3  # MUFU.RCP before the call; RCP and RSQ in the slow path
    assert division.widest_load_bytes == 4


def test_it_gives_a_call_within_a_kernel_no_name():
    text = ".text.f:\n/*0000*/ CALL.REL.NOINC `(.L_x_2) ;\n/*0010*/ CALL.REL 0x7f0 ;\n"
    (found,) = listing.device_functions(text)
    assert (found.kinds, found.calls) == ({"call": 2}, {})


def test_it_reads_several_kernels_of_a_library():
    found = device("library_sm_90")
    scale, talk = (found[name] for name in sorted(found, reverse=True))
    assert (scale.name, scale.instructions) == ("_ZN4kopt5scaleIfEEvPKT_PS1_i", 17)
    assert (talk.name, talk.instructions) == ("_Z4talkPK6float4Pd", 24)
    assert scale.kinds["float32"] == talk.kinds["float64"] == 1
    # printf is called through an address in a register, and its argument is stored beforehand.
    assert (talk.kinds["call"], talk.kinds["local"], talk.calls) == (1, 1, {})
    assert talk.widest_load_bytes == 8


def test_r29_it_tells_what_a_kernel_takes_and_where_each_instruction_is_from():
    text = """\
# launched with 128 threads and 24576 bytes
 Function f:
 REG:58 STACK:16 SHARED:1024 LOCAL:0 CONSTANT[0]:584 TEXTURE:0 SURFACE:0 SAMPLER:0
.text.f:
//## File "/x/candidate.py", line 29
/*0000*/ LDG.E.128 R4, [R2.64] ;
//## File "/triton/standard.py", line 9 inlined at "/x/candidate.py", line 30
/*0010*/ STS.64 [R1], R4 ;
//## File "/triton/standard.py", line 9
/*0020*/ EXIT ;
"""
    (found,) = listing.device_functions(text, 1024)
    assert found.resources == Resources(58, stack_bytes=16, shared_bytes=24576, threads=128)
    assert found.widths == {"global_load": {"16": 1}, "shared_store": {"8": 1}}
    assert found.lines == ((29, "LDG.E.128 R4, [R2.64]"), (30, "STS.64 [R1], R4"), (0, "EXIT"))
    (other,) = listing.device_functions(text.replace("Function f:", "Function g:"))
    assert other.resources is None


def test_r28_it_reads_what_is_made_for_amd():
    found = {f.name: f for f in amd_functions(LISTINGS["library_gfx942.amdgcn"])}
    product, softmax = found["product"], found["softmax"]
    assert product.kinds["matrix"] > 0
    assert product.widths["global_load"] == {"8": 1, "2": 1}
    assert product.widths["global_store"] == {"16": 1}
    assert softmax.kinds["special"] > 0
    assert softmax.kinds["shuffle"] > 0
    assert softmax.resources.threads == 64
    assert (softmax.resources.spilled, softmax.resources.stack_bytes) == (0, 0)
    assert product.resources.shared_bytes > 0
    assert {line for line, _ in softmax.lines} >= {7, 8, 9, 10}
    assert not [text for _, text in product.lines if text.startswith((".", "s_code_end"))]


@pytest.mark.parametrize("name", ["softmax_o2", "axpy_v3", "axpy_v4", "axpy_aarch64"])
def test_it_leaves_out_what_every_library_has(name):
    found = host(name)
    assert not listing.LOADERS & set(found)
    assert not [known for known in found if "@plt" in known or known.startswith(".")]
    # Where the line that begins the section is lost, the name still tells.
    assert listing.host_functions(OF_HOST + lines_of("ret", name="expf@plt-0x10")) == ()


def test_it_leaves_out_padding():
    padding = ("nop", "nopw   0x0(%rax,%rax,1)", "data16 cs nopw 0x0(%rax,%rax,1)")
    padding += ("xchg   %ax,%ax", "int3", "nopl   (%rax)", "data16")
    (found,) = listing.host_functions(OF_HOST + lines_of("ret", *padding))
    assert found.kinds == {"branch": 1}


def test_it_counts_a_nop_of_a_gpu_where_code_follows_it():
    lines = [f"/*{16 * i:04x}*/ {told} ;" for i, told in enumerate(("NOP", "EXIT"))]
    lines += [".L_x_1:", "/*0020*/ BRA `(.L_x_1) ;", "/*0030*/ NOP;", ""]
    text = "\n".join([".text.kernel:", *lines])
    (found,) = listing.device_functions(text)
    assert found.kinds == {"other": 1, "branch": 1}


def test_it_names_what_is_called_however_it_is_called():
    calls = (
        "call   1030 <expf@plt>",
        "data16 rex.W call 1030 <__tls_get_addr@plt>",
        "call   *0x2f8a(%rip)        # 3fd0 <expf@GLIBC_2.27>",
        "call   *%rax",
        "call   *0x2f8a(%rip)        # 3fd0 <table>",
        "call   1200 <solve::{lambda(int)#1}::operator()(int) const>",
        "call   1200 <std::less<float>::operator()(float, float) const>",
        "jmp    1030 <std::vector<float>::size()@plt>",
        "jmp    1004 <solve+0x4>",
        "jmp    1000 <solve>",
        "jmp    2000 <solve.cold>",
        "je     1200 <other>",
        "notrack jmp *%rax",
    )
    (found,) = listing.host_functions(OF_HOST + lines_of(*calls))
    assert found.kinds == {"call": 8, "branch": 5}
    assert found.calls == {
        "expf": 2,
        "__tls_get_addr": 1,
        "solve::{lambda(int)#1}::operator()(int) const": 1,
        "std::less<float>::operator()(float, float) const": 1,
        "std::vector<float>::size()": 1,
    }


def test_it_keeps_the_longest_functions_and_short_names():
    small = "".join(lines_of("ret", name=f"small{i}") for i in range(200))
    large = lines_of(*["ret"] * 9, name="large\x1b[31m\u202e" + "x" * 500)
    found = listing.host_functions(OF_HOST + small + large)
    assert len(found) == counting.MOST_FUNCTIONS
    assert (found[0].name, found[0].instructions) == ("large[31m" + "x" * 111, 9)
    assert found[1].name == "small0"
    calls = [f"call   1030 <f{i}{'y' * 200}@plt>" for i in range(40)]
    (found,) = listing.host_functions(OF_HOST + lines_of(*calls))
    assert found.kinds == {"call": 40}
    assert len(found.calls) == counting.MOST_CALLED
    assert {len(name) for name in found.calls} == {counting.NAME_CHARACTERS}


def test_it_leaves_out_a_line_that_was_cut():
    whole = OF_HOST + lines_of("movss  (%rdi),%xmm1", "mulss  %xmm1,%xmm1")
    (found,) = listing.host_functions(whole)
    (cut,) = listing.host_functions(whole[:-3])
    assert (found.instructions, cut.instructions) == (2, 1)
    (cut,) = listing.device_functions(".text.f:\n/*0000*/ EXIT ;\n/*0010*/ LDG.E")
    assert cut == replace(cut, instructions=1, kinds={"branch": 1}, widest_load_bytes=0)
    assert cut.widths == {}


def test_it_finds_nothing_where_the_code_is_of_another_kind():
    (known,) = listing.host_functions(OF_HOST + lines_of("ret"))
    assert known.name == "solve"
    other = OF_HOST.replace("x86-64", "powerpcle") + lines_of("ret")
    assert listing.host_functions(other) == ()
    for read in READERS:
        assert read("") == ()
    assert listing.device_functions(LISTINGS["axpy_v3.objdump"]) == ()
    assert listing.host_functions(LISTINGS["softmax_sm_90a.nvdisasm"]) == ()


@given(st.text(), st.sampled_from(("", OF_HOST, ".text.f:\n")))
def test_it_reads_any_text(text, before):
    for read in READERS:
        _check(read(f"{before}{text}\n"), text)


@given(st.sampled_from(sorted(LISTINGS)), st.data())
def test_it_reads_a_listing_that_lost_and_doubled_lines(name, data):
    lines = LISTINGS[name].splitlines(keepends=True)
    places = st.lists(st.integers(0, len(lines) - 1), max_size=30)
    gone, doubled = data.draw(places), data.draw(places)
    cut = dict.fromkeys(data.draw(places), data.draw(st.integers(0, 40)))
    text = "".join(
        (line[: cut[i]] if i in cut else line) * (1 + doubled.count(i))
        for i, line in enumerate(lines)
        if i not in gone
    )
    for read in READERS:
        _check(read(text[: data.draw(st.integers(0, len(text)))]), text)


def _check(functions, text):
    assert len(functions) <= counting.MOST_FUNCTIONS
    counts = [function.instructions for function in functions]
    assert counts == sorted(counts, reverse=True)
    for function in functions:
        assert 0 < function.instructions <= text.count("\n") + 1
        assert sum(function.kinds.values()) == function.instructions
        assert set(function.kinds) <= set(OpKind)
        assert sum(function.calls.values()) <= function.kinds.get(OpKind.CALL, 0)
        assert all(
            len(name) <= counting.NAME_CHARACTERS for name in (function.name, *function.calls)
        )


@pytest.mark.parametrize(
    "piece",
    [" ", "a", "/*0000*/ ", "\t", "vcmp", "cs ", "+0x", " <", "@", "`(", "@P0 ", "rex.", "0x", "%"],
)
@pytest.mark.parametrize(
    "start",
    [
        f"{OF_HOST}0000000000001000 <",
        f"{OF_HOST}{lines_of('ret')}    1001:\t",
        f"{OF_HOST}{lines_of('ret')}    1001:\tcall 1030 <",
        ".text.f:\n/*0000*/ ",
        ".text.f:\n/*0000*/ CALL ",
    ],
)
def test_it_takes_no_longer_for_a_line_made_to_be_slow(start, piece):
    # Quadratic in 256 KiB would be minutes.
    line = start + piece * (256 * 1024 // len(piece))
    for end in ("\n", ";\n", ">\n"):
        for read in READERS:
            assert len(read(line + end)) <= 1
