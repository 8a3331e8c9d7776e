# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Effects of modules that `torch.export` leaves out: assignments, and modes around the call.

It follows assignments to buffers of the outermost module, and undoes all others.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils import _pytree as pytree

from mlir_sdy.diagnostics import UsageError, emit, error, warning
from pyshardy.frontends.torch.replacing import replaced_attribute


@contextlib.contextmanager
def followed_assignments(module: torch.nn.Module, *, is_differentiated: bool) -> Iterator[None]:
    """Write assigned buffers into the former ones, inside the `with` block.

    A warning names further attributes that a call changes: tensors, and numbers such as counters.

    Args:
        module: the module.
        is_differentiated: whether hooks will read its attributes after the call.
    """
    forward = module.forward

    @functools.wraps(forward)
    def with_updates(*args: Any, **kwargs: Any) -> Any:
        buffers, others = _buffers_of(module), _attributes_of(module)
        before = {each: {**vars(each)} for each in module.modules()}
        result = _updated(module, buffers, others, forward(*args, **kwargs))
        # Attributes would keep tensors of the trace.
        for each, attributes in () if is_differentiated else before.items():
            vars(each).clear()
            vars(each).update(attributes)
        return result

    with replaced_attribute(module, "forward", with_updates):
        yield


Path = tuple[torch.nn.Module, str, str]
"""A module, its path and the name of an attribute."""


def _buffers_of(module: torch.nn.Module) -> dict[Path, torch.Tensor]:
    return {
        (each, path, name): buffer
        for path, each in module.named_modules()
        for name, buffer in each._buffers.items()
        if buffer is not None
    }


def _attributes_of(module: torch.nn.Module) -> dict[Path, Any]:
    """Return the attributes that a program can't update: parameters, tensors, and numbers.

    Those in lists and dictionaries have names such as `history[0]`, and lists have their lengths.
    """
    return {
        (each, path, name + inside): value
        for path, each in module.named_modules()
        for name, attribute in {**vars(each), **each._parameters}.items()
        if name not in _OF_ALL_MODULES
        for inside, value in _values_in(attribute)
    }


_OF_ALL_MODULES = frozenset({*vars(torch.nn.Module()), "_flat_weights"})  # a list of parameters


def _values_in(attribute: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(attribute, list):
        yield "", len(attribute)
    for keys, value in pytree.tree_flatten_with_path(attribute)[0]:
        if isinstance(value, torch.Tensor | int | float):  # of a vocabulary, the texts don't count
            yield pytree.keystr(keys), value


def _updated(
    module: torch.nn.Module, buffers: dict[Path, torch.Tensor], others: dict[Path, Any], result: Any
) -> Any:
    """Write assigned buffers into the former ones, and return the result of the call."""
    assigned = {
        path: buffer for path, buffer in buffers.items() if path[0]._buffers[path[2]] is not buffer
    }
    now = _attributes_of(module)
    lost = [
        f"{path}.{name}".removeprefix(".")
        for (each, path, name), value in others.items()
        if not _is_same(value, now.get((each, path, name)))
    ]
    if lost:
        names = "', '".join(lost)
        emit(
            warning(
                f"the module changes '{names}' in each call, and the program doesn't; register "
                "what the result depends on as buffers"
            )
        )
    if not assigned:
        return result
    is_old = _shares_memory_with([*assigned.values()])
    result = pytree.tree_map_only(
        torch.Tensor, lambda leaf: leaf.clone() if is_old(leaf) else leaf, result
    )
    new = {path: _checked(path, buffer).clone() for path, buffer in assigned.items()}
    with torch.no_grad():
        for path, buffer in assigned.items():
            path[0]._buffers[path[2]] = buffer.copy_(new[path])
    return result


def _is_same(before: Any, after: Any) -> bool:
    return before is after if isinstance(before, torch.Tensor) else before == after


def _shares_memory_with(tensors: list[torch.Tensor]) -> Callable[[torch.Tensor], bool]:
    memory = {tensor.untyped_storage()._cdata for tensor in tensors}
    return lambda tensor: tensor.untyped_storage()._cdata in memory


def _checked(path: Path, buffer: torch.Tensor) -> torch.Tensor:
    """Return the assigned buffer.

    Raises:
        UsageError: it has another type than the former one.
    """
    module, prefix, name = path
    new = module._buffers[name]
    if new is not None and (new.shape, new.dtype) == (buffer.shape, buffer.dtype):
        return new
    full, expected = f"{prefix}.{name}".removeprefix("."), _text(buffer)
    got = "None" if new is None else _text(new)
    message = f"the module assigns {got} to the buffer '{full}', which has {expected}"
    raise UsageError(error(f"{message}; the state of a program keeps its types"))


def _text(tensor: torch.Tensor) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')} of shape {tuple(tensor.shape)}"


@contextlib.contextmanager
def inference_without_gradients() -> Iterator[None]:
    """Let `torch.inference_mode`, which graphs don't show, set whether gradients are recorded."""

    def enter(self: Any) -> None:
        self._inference_mode_context = torch.set_grad_enabled(not self.mode)

    def leave(self: Any, *_: Any) -> None:
        self._inference_mode_context.__exit__(None, None, None)

    owner = torch.inference_mode
    with (
        replaced_attribute(owner, "__enter__", enter),
        replaced_attribute(owner, "__exit__", leave),
    ):
        yield


@contextlib.contextmanager
def autocast_of_caller(module: torch.nn.Module) -> Iterator[None]:
    """Call a module in the mode for mixed precision of the caller, as part of its graph."""
    if not torch.is_autocast_enabled("cpu"):
        yield
        return
    forward, dtype = module.forward, torch.get_autocast_dtype("cpu")

    @functools.wraps(forward)
    def with_autocast(*args: Any, **kwargs: Any) -> Any:
        with torch.autocast("cpu", dtype):
            return forward(*args, **kwargs)

    with replaced_attribute(module, "forward", with_autocast):
        yield


def without_autocast() -> contextlib.AbstractContextManager[Any]:
    """Return a context in which operations keep their types; graphs contain the conversions."""
    return torch.autocast("cpu", enabled=False)
