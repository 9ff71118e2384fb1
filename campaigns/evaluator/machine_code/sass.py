"""SASS, the machine code of NVIDIA's GPUs, as cuobjdump and nvdisasm write it: destination first.

The names are those of the tables under "Instruction Set Reference" in NVIDIA's "CUDA Binary
Utilities" (docs.nvidia.com/cuda/cuda-binary-utilities), Turing to Blackwell. What they leave open
was seen in code that Triton's ptxas made for sm_80, sm_90a and sm_100a.
"""

from __future__ import annotations

from campaigns.evaluator.machine_code.kinds import OpKind

# By the opcode before its first dot, whatever it is used for: IMAD.MOV moves a register, and is
# issued as a multiplication of integers all the same. LD and ST have an address of any memory, of
# which global is the common one; textures and surfaces lie in global memory.
_OPCODES = {
    OpKind.FLOAT64: "DADD DFMA DMUL DSETP DMNMX",
    OpKind.FLOAT32: "FADD FADD2 FADD32I FFMA FFMA2 FFMA32I FMUL FMUL2 FMUL32I FMNMX FMNMX3 FSEL "
    "FSET FSETP FCHK FSWZADD FHADD FHFMA FCMP",
    OpKind.FLOAT16: "HADD2 HADD2_32I HFMA2 HFMA2_32I HMUL2 HMUL2_32I HMNMX2 HSET2 HSETP2",
    OpKind.SPECIAL: "MUFU",
    OpKind.CONVERT: "F2F F2FP F2I F2IP FRND I2F I2FP I2I I2IP",
    OpKind.INTEGER: "IADD IADD3 IADD32I IMAD IMAD32I IMUL IMUL32I IABS IDP IDP4A IMNMX IMNMX3 "
    "ISCADD ISCADD32I ISETP ISET VABSDIFF VABSDIFF4 VIADD VIADD3 VIADDMNMX VIMNMX VIMNMX3 VHMNMX "
    "LEA LOP LOP3 LOP32I PLOP3 PRMT SEL SHF SHL SHR SGXT BFE BFI BMSK BREV FLO POPC",
    OpKind.SHUFFLE: "SHFL REDUX CREDUX MATCH VOTE VOTEU MOVM",
    OpKind.GLOBAL_LOAD: "LD LDG LDGMC TEX TLD TLD4 TMML TXD SULD",
    OpKind.GLOBAL_STORE: "ST STG SUST",
    OpKind.SHARED_LOAD: "LDS LDSM",
    OpKind.SHARED_STORE: "STS STSM STAS",
    OpKind.LOCAL: "LDL STL",
    OpKind.ASYNC_COPY: "LDGSTS UBLKCP UBLKRED UTMALDG UTMASTG UTMAREDG UTMAPF UBLKPF UTCCP",
    OpKind.ATOMIC: "ATOM ATOMG ATOMS RED REDG REDS REDAS SUATOM SURED",
    OpKind.BARRIER: "BAR MEMBAR FENCE ERRBAR CGAERRBAR DEPBAR LDGDEPBAR SYNCS ARRIVES WARPSYNC "
    "WARPGROUP UCGABAR_ARV UCGABAR_WAIT UTCBAR ACQBULK UTMACMDFLUSH NANOSLEEP",
    OpKind.BRANCH: "BRA BRX BRXU JMP JMX JMXU BREAK BSSY BSYNC EXIT KILL RET",
    OpKind.CALL: "CALL",
}
_KINDS = {name: kind for kind, names in _OPCODES.items() for name in names.split()}
_MOVES = frozenset(("LD", "LDG", "LDGSTS", "ST", "STG", "LDS", "STS", "LDL", "STL"))
_BYTES = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16, "256": 32}
# A matrix of 8 by 8 values of 16 bits, of which each of 32 lanes has two.
_MATRIX_MOVES, _MATRIX_BYTES = frozenset(("LDSM", "STSM")), 4
_REGISTER_BYTES = 4


def parted(text: str) -> tuple[str, str]:
    """Mnemonic with its modifiers, and operands; without the predicate ("@!P0") before them."""
    words = text.strip().split(None, 1)
    if len(words) == 2 and words[0].startswith("@"):
        words = words[1].split(None, 1)
    return (words[0], words[1].strip()) if len(words) == 2 else ("".join(words), "")


def kind_of(mnemonic: str) -> OpKind:
    name = mnemonic.partition(".")[0]
    # HMMA, IMMA, DMMA; HGMMA and QGMMA of a warp group; UTCHMMA on Blackwell's tensor memory.
    if name.endswith("MMA"):
        return OpKind.MATRIX
    # What the compiler computes once for a whole warp has a U in front: UIADD3, ULOP3, UFFMA.
    return _KINDS.get(name) or _KINDS.get(name.removeprefix("U"), OpKind.OTHER)


def moved_bytes(mnemonic: str) -> int:
    """How much of global, shared or local memory a thread moves with it; 0 where it moves none."""
    name, *modifiers = mnemonic.split(".")
    if name in _MATRIX_MOVES:
        return _MATRIX_BYTES * int(modifiers[-1] if modifiers[-1:] in (["2"], ["4"]) else 1)
    if name not in _MOVES:
        return 0
    return next((_BYTES[m] for m in modifiers if m in _BYTES), _REGISTER_BYTES)
