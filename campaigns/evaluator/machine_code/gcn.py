"""AMDGCN, the machine code of AMD's Instinct GPUs, as LLVM writes it: destination first.

The names are those of AMD's "CDNA3 Instruction Set Architecture" and of LLVM's "AMDGPU Usage"
(llvm.org/docs/AMDGPUUsage.html). What they leave open was seen in code that Triton made for gfx942
and gfx950; no card of AMD's was at hand.
"""

from __future__ import annotations

import re

from campaigns.evaluator.machine_code.kinds import OpKind

# By how a mnemonic begins; the first that fits.
_BEGINS = (
    (OpKind.MATRIX, "v_mfma v_smfmac v_wmma"),
    (OpKind.SHUFFLE, "ds_bpermute ds_permute ds_swizzle v_readlane v_writelane v_readfirstlane "
     "v_permlane"),
    (OpKind.LOCAL, "scratch_load scratch_store"),
    (OpKind.ATOMIC, "global_atomic buffer_atomic flat_atomic ds_add ds_sub ds_inc ds_dec ds_min "
     "ds_max ds_and ds_or ds_xor ds_cmpst ds_wrxchg ds_pk_add"),
    (OpKind.SHARED_LOAD, "ds_read ds_load"),
    (OpKind.SHARED_STORE, "ds_write ds_store"),
    (OpKind.GLOBAL_LOAD, "buffer_load global_load flat_load"),
    (OpKind.GLOBAL_STORE, "buffer_store global_store flat_store"),
    (OpKind.BARRIER, "s_barrier s_waitcnt s_wait_ s_sleep buffer_wbl2 buffer_inv buffer_wbinv"),
    (OpKind.CALL, "s_swappc s_call"),
    (OpKind.BRANCH, "s_branch s_cbranch s_endpgm s_setpc s_trap"),
    (OpKind.SPECIAL, "v_exp_ v_log_ v_rcp_ v_rsq_ v_sqrt_ v_sin_ v_cos_"),
    (OpKind.CONVERT, "v_cvt_"),
    (OpKind.OTHER, "s_load s_buffer_load s_store s_mov s_nop v_mov v_accvgpr s_setprio s_set "
     "s_get s_sethalt s_icache s_dcache s_code_end v_nop s_clause s_delay s_round"),
)  # fmt: skip
_PREFIXES = tuple((start, kind) for kind, starts in _BEGINS for start in starts.split())
_FLOATS = ((OpKind.FLOAT64, "_f64"), (OpKind.FLOAT32, "_f32"), (OpKind.FLOAT16, "f16"))
_DWORDS = re.compile(r"_dword(?:x(\d+))?\b")
_BITS = re.compile(r"_[bui](8|16|32|64|96|128)(?:_|$)")
_DWORD_BYTES = 4
_MOVES = tuple(
    f"{memory}{way}"
    for memory, ways in (
        ("buffer_ global_ flat_ scratch_", "load store"),
        ("ds_", "read write load store"),
    )
    for memory in memory.split()
    for way in ways.split()
)
_TWO = ("ds_read2", "ds_write2", "ds_load_2", "ds_store_2")


def parted(text: str) -> tuple[str, str]:
    """Mnemonic and operands, without the comment."""
    words = text.partition(";")[0].strip().split(None, 1)
    return (words[0], words[1].strip()) if len(words) == 2 else ("".join(words), "")


def kind_of(mnemonic: str, operands: str = "") -> OpKind:
    for start, kind in _PREFIXES:
        if mnemonic.startswith(start):
            # A load straight into the local data share does not pass the registers.
            straight = kind is OpKind.GLOBAL_LOAD and (
                "_lds_" in mnemonic or operands.split()[-1:] == ["lds"]
            )
            return OpKind.ASYNC_COPY if straight else kind
    if mnemonic.endswith("_dpp"):
        return OpKind.SHUFFLE
    if mnemonic.startswith("v_"):
        for kind, mark in _FLOATS:
            if mark in mnemonic:
                return kind
    return OpKind.INTEGER if mnemonic.startswith(("v_", "s_")) else OpKind.OTHER


def moved_bytes(mnemonic: str) -> int:
    """How much of global or shared memory one lane moves with it; 0 where it moves none."""
    if not mnemonic.startswith(_MOVES):
        return 0
    if dwords := _DWORDS.search(mnemonic):
        return _DWORD_BYTES * int(dwords[1] or 1)
    if mnemonic.startswith("ds_"):
        bits = _BITS.search(mnemonic)
        # read2 and write2 move two values, from two places.
        values = 2 if mnemonic.startswith(_TWO) else 1
        return values * int(bits[1]) // 8 if bits else 0
    if "byte" in mnemonic:
        return 1
    return 2 if "short" in mnemonic else 0
