"""Instructions of three instruction sets, sorted by what they do."""

from __future__ import annotations

import pytest

from campaigns.evaluator.machine_code import aarch64, gcn, sass, x86
from campaigns.evaluator.machine_code.kinds import OpKind


@pytest.mark.parametrize(
    ("kind", "instructions"),
    [
        (OpKind.MATRIX, ("tdpbf16ps %tmm0,%tmm1,%tmm2",)),
        (
            OpKind.VECTOR_512,
            ("vaddps %zmm0,%zmm1,%zmm2{%k1}{z}", "vfmadd231pd (%rax){1to8},%zmm1,%zmm0"),
        ),
        (
            OpKind.VECTOR_256,
            ("vdivpd %ymm0,%ymm1,%ymm2", "{vex} vpdpbusd %ymm0,%ymm1,%ymm2", "vsqrtph %ymm0,%ymm1"),
        ),
        (
            OpKind.VECTOR_128,
            ("addps (%rdi),%xmm0", "haddpd %xmm0,%xmm0", "cmpltps %xmm0,%xmm1"),
        ),
        (
            OpKind.SCALAR_FLOAT,
            (
                "addss (%rdi),%xmm0",
                "vfnmadd213sd %xmm0,%xmm1,%xmm2",
                "ucomiss %xmm0,%xmm1",
                "faddp  %st,%st(1)",
                "fsqrt",
                "vminss %xmm0,%xmm1,%xmm2",
            ),
        ),
        (OpKind.CONVERT, ("cvtsi2ss %eax,%xmm0", "vpmovsxbw %xmm0,%ymm1")),
        (
            OpKind.INTEGER,
            (
                "add    $0x4,%rbx",
                "lea    0x8(%rdi),%rax",
                "pxor   %xmm0,%xmm0",
                "cmpl   $0x1,(%rax)",
                "cmovne %eax,%ebx",
                "vxorps %xmm0,%xmm0,%xmm0",
                "vpaddd %ymm0,%ymm1,%ymm2",
            ),
        ),
        (
            OpKind.SHUFFLE,
            ("vbroadcastss %xmm0,%zmm2", "unpcklps %xmm0,%xmm1", "vperm2f128 $1,%ymm0,%ymm0,%ymm1"),
        ),
        (
            OpKind.MEMORY,
            (
                "movss  (%rdi),%xmm0",
                "vmovups %zmm1,(%rsi,%rax,1)",
                "push   %rbp",
                "mov    %fs:0x28,%rax",
                "vbroadcastss (%rdi),%ymm0",
                "vgatherdps %ymm0,(%rax),%ymm1",
                "rep stos %al,%es:(%rdi)",
                "flds   (%rax)",
            ),
        ),
        (OpKind.ATOMIC, ("lock xadd %eax,(%rdx)", "xchg   %eax,(%rdx)")),
        (OpKind.BARRIER, ("mfence",)),
        (OpKind.BRANCH, ("jne    1000 <solve>", "bnd jmp *%rax", "repz ret")),
        (OpKind.OTHER, ("mov    %eax,%ebx", "vzeroupper", "(bad)", "fld    %st(1)")),
    ],
)
def test_it_knows_the_instructions_of_x86(kind, instructions):
    assert {told: x86.kind_of(*x86.parted(told)) for told in instructions} == dict.fromkeys(
        instructions, kind
    )


@pytest.mark.parametrize(
    ("kind", "instructions"),
    [
        (OpKind.MATRIX, ("bfmmla\tv0.4s, v1.8h, v2.8h", "fmopa\tza0.s, p0/m, p1/m, z0.s, z1.s")),
        (OpKind.VECTOR_SCALABLE, ("fmla\tz1.s, p0/m, z0.s, z2.s", "sdot\tz0.s, z1.b, z2.b")),
        (
            OpKind.VECTOR_128,
            ("fmul\tv0.4s, v1.4s, v2.s[0]", "faddp\ts0, v0.2s", "udot\tv0.4s, v1.16b, v2.16b"),
        ),
        (
            OpKind.SCALAR_FLOAT,
            ("fmul\ts0, s1, v2.s[0]", "fcmpe\ts0, #0.0", "fmadd\td0, d1, d2, d3"),
        ),
        (OpKind.CONVERT, ("fcvt\td0, s0", "scvtf\ts0, w0")),
        (
            OpKind.INTEGER,
            ("bfi\tw0, w1, #3, #4", "madd\tw0, w1, w2, w3", "adrp\tx0, 20000 <f>", "incw\tx2"),
        ),
        (OpKind.SHUFFLE, ("zip1\tv0.4s, v1.4s, v2.4s", "dup\tv2.4s, v0.s[0]")),
        (OpKind.MEMORY, ("ldr\tq0, [x0]", "st1w\t{z0.s}, p0, [x1]", "ldp\tx29, x30, [sp], #16")),
        (OpKind.ATOMIC, ("ldadd\tw0, w1, [x2]", "stlxr\tw2, w0, [x1]", "casal\tw0, w1, [x2]")),
        (OpKind.BARRIER, ("dmb\tish",)),
        (OpKind.BRANCH, ("b.ne\t714 <f+0x14>  // b.any", "cbz\tx0, 600 <f+0x10>", "ret")),
        (OpKind.CALL, ("bl\t5d0 <expf@plt>", "blr\tx3")),
        (OpKind.OTHER, ("fmov\ts0, #1.0", "mov\tx0, x1", "svc\t#0x0")),
    ],
)
def test_it_knows_the_instructions_of_aarch64(kind, instructions):
    assert {told: aarch64.kind_of(*aarch64.parted(told)) for told in instructions} == dict.fromkeys(
        instructions, kind
    )


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        (OpKind.MATRIX, "HMMA.16816.F32 IMMA.16832.S8.S8 DMMA.884 QGMMA.64x16x32 UTCHMMA.2CTA"),
        (OpKind.FLOAT64, "DFMA DADD DSETP.GT.AND"),
        (OpKind.FLOAT32, "FFMA.FTZ FMNMX UFADD FFMA2"),
        (OpKind.FLOAT16, "HFMA2.MMA.BF16_V2 HADD2.F32"),
        (OpKind.SPECIAL, "MUFU.EX2"),
        (OpKind.CONVERT, "F2FP.BF16.F32.PACK_AB I2F.U8 F2I.TRUNC.NTZ"),
        (OpKind.INTEGER, "IMAD.MOV.U32 UIADD3 LOP3.LUT USHF.L.U32 FLO.U32"),
        (OpKind.SHUFFLE, "SHFL.BFLY REDUX.SUM VOTEU.ANY"),
        (OpKind.GLOBAL_LOAD, "LDG.E.128 LD.E TEX.SCR.LL"),
        (OpKind.GLOBAL_STORE, "STG.E ST.E.64"),
        (OpKind.SHARED_LOAD, "LDS.U.128 LDSM.16.M88.4"),
        (OpKind.SHARED_STORE, "STS STSM.16.M88"),
        (OpKind.LOCAL, "LDL.LU STL.64"),
        (OpKind.ASYNC_COPY, "LDGSTS.E.BYPASS.128 UTMALDG.2D UTMASTG.2D UBLKCP.S.G"),
        (OpKind.ATOMIC, "ATOMG.E.ADD.F32 RED.E.ADD ATOMS.OR"),
        (OpKind.BARRIER, "BAR.SYNC.DEFER_BLOCKING SYNCS.PHASECHK WARPGROUP.ARRIVE LDGDEPBAR"),
        (OpKind.BRANCH, "BRA.U EXIT RET.REL.NODEC BSSY"),
        (OpKind.CALL, "CALL.REL.NOINC"),
        (OpKind.OTHER, "MOV S2R ULDC.64 LDC UTCATOMSWS.AND CCTL.IVALL WHATEVER"),
    ],
)
def test_it_knows_the_instructions_of_nvidia(kind, names):
    assert {name: sass.kind_of(name) for name in names.split()} == dict.fromkeys(
        names.split(), kind
    )


@pytest.mark.parametrize(
    ("mnemonic", "size"),
    [
        ("LDG.E.128.CONSTANT", 16),
        ("LDG.E.64", 8),
        ("LDG.E.LTC128B", 4),
        ("LDG.E.U16", 2),
        ("LDGSTS.E.BYPASS.128", 16),
        ("LDS.128", 16),
        ("STG.E.128", 16),
        ("LDSM.16.M88.4", 16),
        ("STL", 4),
        ("FADD", 0),
    ],
)
def test_r28_it_tells_how_much_a_thread_moves(mnemonic, size):
    assert sass.moved_bytes(mnemonic) == size


@pytest.mark.parametrize(
    ("mnemonic", "kind", "size"),
    [
        ("v_mfma_f32_32x32x8_f16", "matrix", 0),
        ("buffer_load_dwordx4", "global_load", 16),
        ("global_load_ushort", "global_load", 2),
        ("global_load_lds_dword", "async_copy", 4),
        ("buffer_store_dwordx2", "global_store", 8),
        ("ds_read_b128", "shared_load", 16),
        ("ds_read2_b32", "shared_load", 8),
        ("ds_read2st64_b64", "shared_load", 16),
        ("ds_read_u16_d16", "shared_load", 2),
        ("ds_write_b64", "shared_store", 8),
        ("ds_bpermute_b32", "shuffle", 0),
        ("scratch_load_dword", "local", 4),
        ("ds_add_f32", "atomic", 0),
        ("v_add_f32_dpp", "shuffle", 0),
        ("v_exp_f32_e32", "special", 0),
        ("v_cvt_f16_f32_e32", "convert", 0),
        ("v_pk_fma_f32", "float32", 0),
        ("v_fma_f64", "float64", 0),
        ("v_pk_mul_f16", "float16", 0),
        ("v_lshlrev_b32_e32", "integer", 0),
        ("s_and_b64", "integer", 0),
        ("s_waitcnt", "barrier", 0),
        ("s_cbranch_vccnz", "branch", 0),
        ("s_swappc_b64", "call", 0),
        ("s_load_dwordx4", "other", 0),
        ("tbuffer_x", "other", 0),
    ],
)
def test_r28_it_knows_the_instructions_of_amd(mnemonic, kind, size):
    assert gcn.kind_of(mnemonic) == kind
    assert gcn.moved_bytes(mnemonic) == size


def test_a_load_of_amd_may_go_straight_to_shared_memory():
    assert gcn.kind_of("buffer_load_dword", "v1, s[0:3], 0 offen lds") == "async_copy"


def test_it_parts_an_instruction_from_what_stands_around_it():
    assert aarch64.parted("mov\tx4, #0x0                   \t// #0") == ("mov", "x4, #0x0")
    assert aarch64.parted("ret") == ("ret", "")
    assert x86.parted("bnd jmp *0x2fcc(%rip)        # 3ff8 <f>") == ("jmp", "*0x2fcc(%rip)")
    assert x86.parted("lock xadd %eax,(%rdx)") == ("lock", "xadd %eax,(%rdx)")
    assert sass.parted("@!P2 STS [R9+UR4], R12 ") == ("STS", "[R9+UR4], R12")
    assert sass.parted("EXIT ") == ("EXIT", "")
