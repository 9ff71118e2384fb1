"""x86-64 in the syntax of AT&T, as GNU objdump writes it: destination last, widths as suffixes.

The names are those of the "Intel 64 and IA-32 Architectures Software Developer's Manual", volume 2,
and of the "Intel Architecture Instruction Set Extensions Programming Reference" (AMX, AVX10).
"""

from __future__ import annotations

import re

from campaigns.evaluator.machine_code.kinds import OpKind

JUMP = "jmp"

# They change how the processor reads what follows, not what it does. `lock` does, and stays.
_PREFIX = re.compile(r"data16|addr32|bnd|notrack|repn?z?|[c-gs]s|xacquire|xrelease|rex\S*|\{\w+\}")
_FLOAT = re.compile(
    r"v?(?:add|sub|mul|div|minmax|min|max|sqrt|rcp(?:14|28)?|rsqrt(?:14|28)?|hadd|hsub|addsub|dp"
    r"|round|rndscale|reduce|range|scalef|getexp|getmant|fixupimm|exp2|fc?mulc|fc?maddc"
    r"|fn?m(?:add|sub)(?:132|213|231)?|fm(?:addsub|subadd)(?:132|213|231)?|cmp[a-z_]*|u?com[ix])"
    r"(?:(?P<scalar>s[sdh])|p[sdh]|(?:ne)?p?bf16(?:ps)?)"
)
# Products of packed bytes and words (SSSE3, VNNI): what a quantised kernel does for arithmetic.
_PACKED_PRODUCT = re.compile(r"v?p(?:dp[bw][su]{2}ds?|madd(?:wd|ubsw))")
# Loads and stores where an operand is in memory; shuffles and moves between registers where not.
_MOVE = re.compile(
    r"v?mov[a-z0-9]*|v?lddqu|v?p?(?:broadcast|gather|scatter|maskmov|compress|expand)[a-z0-9]+"
    r"|v?(?:extract|insert)[a-z0-9]+|v?p(?:mov|insr|extr)[a-z]+|kmov[bwdq]|tile(?:load|store)[a-z0-9]+"
    r"|prefetch[a-z0-9]+|f[bin]?(?:ld|st)[a-z]*|v?(?:ld|st)mxcsr|xlat"
)
_STACK_OR_STRING = re.compile(r"(?:push|pop)f?[bwlq]?|leaveq?|(?:stos|lods)[bwlq]?")
_CONVERT = re.compile(r"v?cvt[a-z0-9_]+|v?pmov(?:[sz]x|u?s)?[bwdq]{2}")
_SHUFFLE = re.compile(
    r"v?p?(?:shuf|unpck|ack[us]s|alignr|perm|broadcast|insr|insert|extr|extract"
    r"|movmsk|compress|expand)[a-z0-9]*"
    r"|v?(?:movddup|movs[hl]dup|movhlps|movlhps)|valign[dq]|vpmov(?:m2[bwdq]|[bwdq]2m)"
)
_INTEGER = re.compile(
    r"(?:add|adc|sub|sbb|i?mul|i?div|inc|dec|neg|not|and|andn|or|xor|sh[lr]d?|shlx|shrx|sarx?|sal"
    r"|ro[lr]x?|rc[lr]|cmp|cmps|scas|test|lea|bsf|bsr|bt[scr]?|bls[ir]|blsmsk|bextr|bzhi|pdep|pext"
    r"|mulx|adcx|adox|popcnt|lzcnt|tzcnt|bswap|crc32)[bwlq]?"
    r"|cmov[a-z]+|set[a-z]+|c(?:btw|wtl|ltq|wtd|ltd|qto)"
    r"|v?p(?:add|sub|mul|max|min|abs|avg|sad|s[lr]l|sra|ro[lr]|sh[lr]d|cmp|test|and|or|xor|ternlog"
    r"|sign|hadd|hsub|hminpos|clmul|lzcnt|conflict|multishift|popcnt|madd52)[a-z0-9]*"
    r"|v?(?:and|andn|or|xor)p[sd]|vtestp[sd]|v?mpsadbw|vdbpsadbw"
    r"|k(?:and|andn|or|xor|xnor|not|add|test|ortest|shift[lr]|unpck)[a-z]*"
)
_X87 = re.compile(
    r"fi?(?:add|sub|mul|div)r?p?[sl]?|f(?:abs|chs|sqrt|rndint|scale|xtract|prem1?|sin|cos|sincos"
    r"|ptan|patan|2xm1|yl2xp?1?|tst)|fu?comi?p{0,2}[sl]?|ficomp?[sl]?"
)
_FIRST = (
    (re.compile(r"tdp[a-z0-9]+|tcmm[a-z0-9]+|tmm[a-z0-9]+"), OpKind.MATRIX),
    (re.compile(r"callq?"), OpKind.CALL),
    (re.compile(r"j[a-z]+|retq?|loop[a-z]*"), OpKind.BRANCH),
    (re.compile(r"lock|xadd[bwlq]?|cmpxchg[a-z0-9]*"), OpKind.ATOMIC),
    (re.compile(r"[mls]fence|t?pause|u?mwait|serialize"), OpKind.BARRIER),
)
_LAST = (
    (_CONVERT, OpKind.CONVERT),
    (_SHUFFLE, OpKind.SHUFFLE),
    (_INTEGER, OpKind.INTEGER),
    (_X87, OpKind.SCALAR_FLOAT),
)


def parted(text: str) -> tuple[str, str]:
    """Mnemonic and operands, without prefixes and objdump's comment."""
    mnemonic, _, rest = text.partition(" # ")[0].strip().partition(" ")
    # No instruction is longer than 15 bytes.
    for _ in range(15):
        if not _PREFIX.fullmatch(mnemonic):
            break
        mnemonic, _, rest = rest.strip().partition(" ")
    return mnemonic, rest.strip()


def is_padding(mnemonic: str, operands: str) -> bool:
    """What fills the gap before an aligned address."""
    if mnemonic == "xchg":
        return operands == "%ax,%ax"
    # A prefix that stands alone pads as well.
    return mnemonic in ("", "nop", "nopw", "nopl", "nopq", "int3")


def kind_of(mnemonic: str, operands: str) -> OpKind:
    for pattern, kind in _FIRST:
        if pattern.fullmatch(mnemonic):
            return kind
    arithmetic = _FLOAT.fullmatch(mnemonic)
    if arithmetic and arithmetic["scalar"]:
        return OpKind.SCALAR_FLOAT
    if arithmetic or _PACKED_PRODUCT.fullmatch(mnemonic):
        if "%zmm" in operands:
            return OpKind.VECTOR_512
        return OpKind.VECTOR_256 if "%ymm" in operands else OpKind.VECTOR_128
    if _STACK_OR_STRING.fullmatch(mnemonic):
        return OpKind.MEMORY
    # "8(%rax)" is of an address, and "%fs:0x28" of a thread's own memory.
    if "(" in operands.replace("%st(", "") or "s:" in operands:
        # An exchange with memory locks by itself.
        if mnemonic.startswith("xchg"):
            return OpKind.ATOMIC
        if _MOVE.fullmatch(mnemonic):
            return OpKind.MEMORY
    return next((kind for pattern, kind in _LAST if pattern.fullmatch(mnemonic)), OpKind.OTHER)
