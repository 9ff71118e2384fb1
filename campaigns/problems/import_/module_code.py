"""The code that a problem of a module has in its files: how weights are drawn, named and given.

It is text, as it runs where the judge and the kernel run, and imports nothing of kopt's.
"""

SHARED_CODE = '''# What follows was written by kopt.
import torch
from torch import Tensor as _Tensor


def _name(key):
    """A weight as an argument is called: `fc.weight` is `fc_weight`."""
    plain = "".join(c if c.isalnum() else "_" for c in key)
    return plain if plain.isidentifier() and plain not in _TAKES else f"own_{plain}"


def _without_chance(module):
    """The same module, whose Dropout drops nothing."""
    for each in module.modules():
        if isinstance(each, torch.nn.modules.dropout._DropoutNd):
            each.p = 0.0
        elif isinstance(getattr(each, "dropout", None), float):
            each.dropout = 0.0
    return module


def _tensors(found):
    """The tensors in what a call returns, in order."""
    if isinstance(found, dict):
        found = list(found.values())
    if isinstance(found, (tuple, list)):
        return [one for each in found for one in _tensors(each)]
    return [found] if isinstance(found, _Tensor) else []


'''

REFERENCE_CODE = '''import functools as _functools


def _cards(device):
    """The devices, beside the CPU, whose random numbers are put back."""
    return [device] if device.startswith("cuda") else []


@_functools.cache
def _module(device, seed=1):
    """The module as its own arguments make it."""
    arguments = _INIT() if _INIT else []
    with torch.random.fork_rng(_cards(device)), torch.device(device):
        torch.manual_seed(seed)
        named = isinstance(arguments, dict)
        module = _MODULE(**arguments) if named else _MODULE(*arguments)
    return _without_chance(module).to(device)


def _state(module):
    """Weights by key, each tensor once. Statistics that a call only updates are none."""
    updated = {
        f"{path}.{name}".lstrip(".")
        for path, each in module.named_modules()
        if isinstance(each, torch.nn.modules.batchnorm._NormBase) and each.training
        for name, _ in each.named_buffers(recurse=False)
    }
    found, seen = {}, set()
    for key, value in module.state_dict(keep_vars=True).items():
        known = not isinstance(value, _Tensor) or id(value) in seen or key in updated
        if not known and value.numel():
            found[key] = value.detach()
            seen.add(id(value))
    return found


def _inputs(sizes, seed, device):
    """The arguments of the module's call by name, those that are None left out."""
    global _device
    _device = device
    globals().update({name: sizes[name] for name in _SIZES})
    with torch.random.fork_rng(_cards(device)), torch.device(device):
        torch.manual_seed(seed)
        values = get_inputs()
    values = values if isinstance(values, (tuple, list)) else [values]
    if len(values) > len(_TAKES):
        raise ValueError(f"get_inputs gives {len(values)}; forward takes {', '.join(_TAKES)}")
    return {name: each for name, each in zip(_TAKES, values) if each is not None}


def _running(module):
    """The keys of running statistics, which a module fills and training changes."""
    return {
        f"{path}.{name}".lstrip(".")
        for path, each in module.named_modules()
        if isinstance(each, torch.nn.modules.batchnorm._NormBase)
        for name, value in each.named_buffers(recurse=False)
        if value.is_floating_point()
    }


@_functools.cache
def _made(device):
    """Of each weight: its values, how they are drawn, and whether they stay; two makings tell."""
    one, other = _module(device), _state(_module.__wrapped__(device, seed=2))
    tables = {name for name, _ in one.named_buffers()} - _running(one)
    found = {}
    for key, value in _state(one).items():
        spread = None
        if not torch.equal(value, other[key]):
            pair = torch.stack((value, other[key])).float()
            spread = (pair.mean(), pair.std())
        kept = spread is None and (key in tables or not value.is_floating_point())
        found[key] = (value, spread, kept)
    return found


def _weights(seed, device):
    """Weights by key, drawn from the seed. Tables that the module fills keep their values."""
    random = torch.Generator(device=device).manual_seed(seed + 1)
    found = {}
    for key, (value, spread, kept) in _made(device).items():
        if kept:
            found[key] = value.clone()
            continue
        draw = torch.randn(value.shape, generator=random, device=device)
        if spread is not None:
            draw = spread[0] + spread[1] * draw
        else:
            draw = torch.where(value == 0, 0.25 * draw, value * torch.exp(0.25 * draw))
        found[key] = draw.to(value.dtype)
    return found


@_functools.cache
def _keys():
    """The keys of weights by their arguments' names."""
    found = {}
    for key in _state(_module("cpu")):
        if _name(key) in found:
            raise ValueError(f"{key}: {found[_name(key)]} is called {_name(key)} too")
        found[_name(key)] = key
    return found


def _answer_of(module, inputs, weights):
    """What the module returns for these, as a list of tensors; nothing of it is changed."""
    raised = torch.float64 in {each.dtype for each in _tensors([inputs, weights])}
    own = {
        name: each.to(torch.float64) if raised and each.is_floating_point() else each.clone()
        for name, each in module.named_buffers()
    }
    found = torch.func.functional_call(module, own | weights, (), inputs)
    return _tensors(found)


@_functools.cache
def _answers(*sizes):
    """(shape, dtype) of each answer; worked out without values where the module can."""
    named = dict(zip(_SIZES, sizes))
    try:
        module = _module("meta")
        found = _answer_of(module, _inputs(named, 0, "meta"), _state(module))
    except Exception:
        module = _module("cpu")
        found = _answer_of(module, _inputs(named, 0, "cpu"), _state(module))
    return [(each.shape, each.dtype) for each in found]


def _numbers():
    """Constants of the module's file, by the names that the kernel has for them."""
    known = {name.lower(): each for name, each in globals().items() if isinstance(each, int)}
    return {name: known[name.lower()] for name, _ in _KERNEL or () if name.lower() in known}


def _called(tensors, answers, numbers):
    """The kernel's names of our tensors and answers: the same ones, else in order."""
    found = {name: name for name in (*tensors, *answers)}
    if _KERNEL is None:
        return found
    same = {name for name, _ in _KERNEL} & found.keys()
    left = [name for name in tensors if name not in same]
    places = [name for name in answers if name not in same]
    for name, kind in _KERNEL:
        if name in same or name in numbers:
            continue
        pool = places if kind == "output" or not left else left
        if not pool:
            raise ValueError(f"{name}: the module has no argument, weight or answer for it")
        found[pool.pop(0)] = name
    if left or places:
        raise ValueError(f"the kernel takes no {', '.join((*left, *places))}")
    return found


_theirs = {}


def setup(*, seed, device, **sizes):
    """Inputs and weights that the seed gives, and places for the answers."""
    inputs, drawn = _inputs(sizes, seed, device), _weights(seed, device)
    given = inputs | {name: drawn[key] for name, key in _keys().items()}
    shapes = _answers(*(sizes[name] for name in _SIZES))
    globals().update({name: sizes[name] for name in _SIZES})
    count = len(shapes)
    names = [_ANSWER] if count == 1 else [f"{_ANSWER}{n}" for n in range(1, count + 1)]
    tensors = [name for name, each in given.items() if isinstance(each, _Tensor)]
    numbers = _numbers()
    _theirs.update(_called(tensors, names, numbers))
    for name, (shape, dtype) in zip(names, shapes):
        given[name] = torch.empty(shape, dtype=dtype, device=device)
    called = numbers | {_theirs.get(name, name): each for name, each in given.items()}
    called |= {name: sizes[name] for name in _SIZES if _TELLS}
    order = list(called) if _KERNEL is None else [name for name, _ in _KERNEL]
    return {
        "inputs": {name: called[name] for name in order},
        "outputs": [_theirs[name] for name in names],
    }


def reference(**arguments):
    ours = {theirs: name for name, theirs in _theirs.items()}
    given = {ours.get(name, name): each for name, each in arguments.items()}
    device = str(_tensors(given)[0].device)
    inputs = {name: given.pop(name) for name in _TAKES if name in given}
    weights = {key: given.pop(name) for name, key in _keys().items()}
    answers = _answer_of(_module(device), inputs, weights)
    for place, answer in zip(_tensors(given), answers, strict=True):
        place.copy_(answer)
'''

KERNEL_CODE = """_module = _without_chance({made})
_named = [(key, _name(key)) for key in _module.state_dict()]
_own = [key for key, _ in _module.named_parameters()]


def run_kernel(**arguments):
    weights = {{key: arguments[name] for key, name in _named if name in arguments}}
    inputs = {{own: arguments[name] for name, own in zip(_TAKES, _OWN) if name in arguments}}
    if lacking := [key for key in _own if key not in weights]:
        raise TypeError(
            f"{name} has weights that are no inputs: {{', '.join(lacking)}}; "
            f"accepted: the reference's keys, as in {{', '.join(arguments)}}"
        )
    for buffer in _module.buffers():
        _module.to(_tensors(arguments)[0].device)
        break
    answers = _tensors(torch.func.functional_call(_module, weights, (), inputs))
    places = [arguments[name] for name in arguments if name.rstrip("0123456789") == _ANSWER]
    for place, answer in zip(places, answers, strict=True):
        place.copy_(answer)
"""
