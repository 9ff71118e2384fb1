"""What a candidate's source may be: the name of its entry, and the compiler flags it asks for."""

from __future__ import annotations

import re

# The function of a Python source that makes one call.
ENTRY = "run_kernel"
# Compiler flags are written by proposers and people: only what tunes code may pass, nothing that
# names a file, a plug-in, a wrapper or another program, keeps a sanitizer from looking, or is one
# of nvcc's own long flags that only begin alike.
_NO_TUNING = (
    r"\S*(?:plugin|profile|dump|sanitize|asan-|use-ld|module|self-test|opt-info|-trace|-dir)"
    r"|atbin|orward|syntax-only|preprocessed"
)
FLAG = re.compile(
    rf"-O[0-3sz]|-Ofast|-m(?!llvm$)[a-z0-9.=+,-]+|-f(?!{_NO_TUNING})[a-z0-9=-]+"
    r"|-D[A-Za-z_]\w*(=[\w.+-]*)?|-std=[a-z+0-9]+|-W[a-z0-9=-]*"
    r"|-pthread|-l(?:m|pthread|rt)|-g[0-3]?"
    r"|--?use_fast_math|--?maxrregcount=\d+|--fmad=(true|false)|-lineinfo"
    r"|--expt-relaxed-constexpr|--expt-extended-lambda"
    r"|--extra-device-vectorization|-Xptxas=-O[0-3]|-Xptxas=-dlcm=c[agv]"
)
TUNING = "-O…, -m…, -f…, -D…, -std=…, -W…, -pthread, --use_fast_math, --maxrregcount=N and the like"


def is_tuning(flag: str) -> bool:
    """Whether a flag tunes code and does nothing else."""
    return FLAG.fullmatch(flag) is not None
