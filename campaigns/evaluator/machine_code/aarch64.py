"""AArch64 as GNU objdump writes it: destination first.

The names are those of the "Arm Architecture Reference Manual for A-profile architecture".
"""

from __future__ import annotations

import re

from campaigns.evaluator.machine_code.kinds import OpKind

JUMP = "b"

# "v0.4s" is a whole vector, while "v0.s[1]" is one element of it; "z0.s" has no fixed width.
_VECTOR = re.compile(r"\bv\d{1,2}\.\d")
_SCALABLE = re.compile(r"\bz\d{1,2}\.")
_KINDS = (
    (re.compile(r"bl|blra[ab]z?|blr"), OpKind.CALL),
    (re.compile(r"bc?\.[a-z]+|b|br|bra[ab]z?|cbn?z|tbn?z|ret(?:a[ab])?"), OpKind.BRANCH),
    (re.compile(r"dmb|dsb|isb|wfe|wfi|yield|sb"), OpKind.BARRIER),
    # SMMLA and its like are products of 2 by 8 and 8 by 2, the others outer ones (SME).
    (re.compile(r"(?:bf|f|s|u|us)mmla|(?:bf|f|s|u|us|su|b)mop[as]"), OpKind.MATRIX),
    (
        re.compile(
            r"(?:ld|st)(?:add|clr|eor|set|[su]max|[su]min)[a-z]*|cas[a-z]*|swp[a-z]*"
            r"|(?:ld|st)a?l?xr?p?[bhr]{0,2}"
        ),
        OpKind.ATOMIC,
    ),
    (re.compile(r"(?:ld|st)[a-z0-9]+|prf[a-z]+"), OpKind.MEMORY),
    (re.compile(r"b?fcvt[a-z0-9]*|[su]cvtf|[su]xtl2?|(?:[su]q)?xtu?n2?"), OpKind.CONVERT),
    (
        re.compile(
            r"dup|ins|[us]mov|zip[12q]*|uzp[12q]*|trn[12]|ext|tbl|tbx|rev(?:16|32|64)?|splice"
            r"|compact|insr|last[ab]|clast[ab]"
        ),
        OpKind.SHUFFLE,
    ),
)
_BITFIELD = re.compile(r"bf(?:i|c|m|xil)")
_PACKED_PRODUCT = re.compile(r"(?:s|u|us|su)dot|[su]ml[as]l[btv2]?")
_INTEGER = re.compile(
    r"(?:u|s|us|su|sq|uq|sqr|uqr|r)?(?:h?add|h?sub|mul|mla|mls|max|min|div|shl|shr|sra|sli|sri|abd"
    r"|aba|rhadd|dmulh|rdmulh)[a-z0-9]*"
    r"|ad[cr]s?|adrp|sbcs?|ngcs?|negs?|madd|msub|mneg|[su]m(?:add|sub|neg)l|[su]mulh"
    r"|ands?|orr|orn|eor3?|eon|bics?|mvn|not|tst|ls[lr]v?r?|asr[vr]?|rorv?|bcax|bsl|bi[tf]"
    r"|cm[pn]|ccm[pn]|cs(?:el|inc|inv|neg)|csetm?|cin[cv]|cneg|cm(?:eq|ge|gt|hi|hs|le|lt|tst|p[a-z]+)"
    r"|[su]xt[bhw]|[su]bf(?:iz|x|m)|extr|cl[sz]|ctz|cnt[bhwdp]?|rbit|abs|addv|addp|[su](?:max|min)v"
    r"|(?:inc|dec)[bhwdp]|while[a-z]+|index|rdvl|addvl|addpl|crc32[a-z]+|bgrp|bdep|bext"
)


def parted(text: str) -> tuple[str, str]:
    """Mnemonic and operands, without objdump's comment."""
    words = text.partition("// ")[0].split(None, 1)
    return (words[0], words[1].strip()) if len(words) == 2 else ("".join(words), "")


def is_padding(mnemonic: str, operands: str) -> bool:
    """What fills the gap before an aligned address; `udf #0` is how zeros read."""
    return mnemonic in ("", "nop") or (mnemonic == "udf" and operands == "#0")


def kind_of(mnemonic: str, operands: str) -> OpKind:
    for pattern, kind in _KINDS:
        if pattern.fullmatch(mnemonic):
            return kind
    # FADD and FMLA, BFDOT and BFMLALB; not FMOV, which moves, nor BFI, which is of bits.
    moves = mnemonic in ("fmov", "fdup", "fcpy") or _BITFIELD.fullmatch(mnemonic)
    is_float = mnemonic.startswith(("f", "bf")) and not moves
    if is_float or _PACKED_PRODUCT.fullmatch(mnemonic):
        if _SCALABLE.search(operands):
            return OpKind.VECTOR_SCALABLE
        # "v0.2s" is half of a register of 128 bits, and counts as one.
        if _VECTOR.search(operands):
            return OpKind.VECTOR_128
        return OpKind.SCALAR_FLOAT if is_float else OpKind.INTEGER
    if _INTEGER.fullmatch(mnemonic) or _BITFIELD.fullmatch(mnemonic):
        return OpKind.INTEGER
    return OpKind.OTHER
