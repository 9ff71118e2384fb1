"""Input sets that `setup` would hardly draw, and cases near the declared ones, made by the judge.

A kernel that is right for the declared shapes and distribution only is not right. Sets are derived
from the problem's own example; integers (they may be indices) and numbers stay as they are.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

import torch

from campaigns.evaluator.contract import Case, Param
from campaigns.evaluator.problem import CheckSpec

# Powers of two: scaling is exact. Large overflows exponentials that forget to subtract the peak.
LARGE, TINY, SHIFT = 128.0, 2.0**-20, 256.0
# What an honest kernel may be off by there: in errors of the reference at the problem's own
# precision, and in changes of the exact answer when the inputs are off by what rounding makes of a
# sum over a row. Constant rows, say, are all cancellation.
OWN_ERRORS, CHANGES = 16.0, 4.0
LONGEST_ROW = 1024
# A smaller integer parameter is more likely a switch or a count of heads than a size.
LEAST_FREE = 16
MOST_MOVED = 7
# How many elements of each input a near-duplicate changes.
CHANGED = 4

MAKE: Mapping[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "zeros": torch.zeros_like,
    "constant": lambda x: (x[..., :1] if x.dim() else x).expand_as(x).contiguous(),
    "large": lambda x: x * LARGE,
    "tiny": lambda x: x * TINY,
    "shifted": lambda x: x + SHIFT,
}
WORDS = {
    "zeros": "all inputs zero",
    "constant": "constant rows",
    "large": f"inputs {LARGE:g} times larger",
    "tiny": "very small inputs",
    "shifted": f"inputs shifted by {SHIFT:g}",
}


def adversarial(
    name: str, inputs: Mapping[str, Any], outputs: tuple[str, ...]
) -> dict[str, Any] | None:
    """The set `name`, made from an example; None where it would change nothing or not be finite."""
    made = dict(inputs)
    for key, value in inputs.items():
        if isinstance(value, torch.Tensor) and value.is_floating_point() and key not in outputs:
            made[key] = MAKE[name](value)
            if not bool(torch.isfinite(made[key]).all()):
                return None
    return made if any(made[key] is not inputs[key] for key in made) else None


def near_duplicate(inputs: Mapping[str, Any], outputs: tuple[str, ...]) -> dict[str, Any] | None:
    """The same inputs with a few elements exchanged for others of the same tensor."""
    made = dict(inputs)
    draw = random.SystemRandom()
    for key, value in inputs.items():
        if not isinstance(value, torch.Tensor) or not value.is_floating_point() or key in outputs:
            continue
        flat = value.reshape(-1).clone()
        for _ in range(min(CHANGED, flat.numel() // 2)):
            to, source = draw.randrange(flat.numel()), draw.randrange(flat.numel())
            flat[to] = value.reshape(-1)[source]
        made[key] = flat.view(value.shape)
    return made if any(made[key] is not inputs[key] for key in made) else None


def rounded(inputs: Mapping[str, Any], outputs: tuple[str, ...]) -> list[dict[str, Any]]:
    """The inputs twice, in float64: off by rounding with random signs, and all the same way."""
    made: list[dict[str, Any]] = [dict(inputs), dict(inputs)]
    for key, value in inputs.items():
        if not isinstance(value, torch.Tensor) or not value.is_floating_point() or key in outputs:
            continue
        row = min(LONGEST_ROW, value.shape[-1] if value.dim() else 1)
        share = row * torch.finfo(torch.float32).eps / 2 + torch.finfo(value.dtype).eps / 2
        if value.dtype is torch.float64:
            share = row * torch.finfo(torch.float64).eps
        wide = value.double()
        signs = torch.randint(0, 2, value.shape, device=value.device) * 2 - 1
        made[0][key] = wide * (1 + share * signs)
        made[1][key] = wide * (1 + share)
    return made


def free_parameters(case: Case, check: CheckSpec) -> tuple[str, ...]:
    """The parameters of a case that a hidden case may move."""
    if check.free is not None:
        return tuple(name for name in check.free if _is_size(case.params.get(name), 1))
    return tuple(name for name, value in case.params.items() if _is_size(value, LEAST_FREE))


def hidden_cases(case: Case, check: CheckSpec) -> dict[str, Case]:
    """One case a little below and one a little above, every free parameter moved by itself.

    They are drawn anew for every evaluation, so nothing can be fitted to them.
    """
    free = free_parameters(case, check)
    if not free:
        return {}
    draw = random.SystemRandom()

    def moved(sign: int) -> Case:
        params: dict[str, Param] = dict(case.params)
        for name in free:
            value = int(params[name])
            params[name] = max(1, value + sign * draw.randint(1, MOST_MOVED))
        return Case(case.name, params)

    return {"smaller": moved(-1), "larger": moved(+1)}


def _is_size(value: Param | None, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least
