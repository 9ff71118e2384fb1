"""Which backend judges a source of a campaign, and whether it is a kernel at all.

A problem without a kernel begins with its reference, which is Python that calls torch.
"""

from __future__ import annotations

from campaigns.evaluator.contract import Source, backends


def judging(source: Source, backend: str) -> str:
    """The campaign's backend, or torch where a source is Python and that backend's are not."""
    is_python = source.name.endswith(".py")
    return "torch" if is_python and backends.get(backend).suffix != ".py" else backend


def has_kernel(source: Source, backend: str) -> bool:
    """Whether a source has a kernel in the language of its campaign, and not torch's alone."""
    known = backends.get(backend)
    if known.kernels is backends.no_kernels:
        return source.name.endswith(known.suffix)
    return bool(known.kernels(source.text))
