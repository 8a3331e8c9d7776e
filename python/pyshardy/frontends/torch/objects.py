# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Objects with tensors, such as caches of keys and values, as trees of PyTorch.

`torch.export` takes and returns tensors in trees: tuples, lists, dictionaries, and classes that are
registered. An object of another class becomes a tree of its attributes at the border of the module,
which has the object itself inside. Attributes that aren't tensors are constants of the tree, as
members of enumerations are.
"""

from __future__ import annotations

import contextlib
import functools
import types
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import torch
from torch.utils import _pytree as pytree

from pyshardy.frontends.torch.replacing import replaced_attribute


class _Constant:
    """An attribute that isn't a tensor; objects without a comparison equal by their attributes."""

    def __init__(self, value: Any):
        self.value = value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Constant):
            return NotImplemented
        if type(self.value).__eq__ is object.__eq__ and hasattr(self.value, "__dict__"):
            same = type(self.value) is type(other.value)
            return same and bool(vars(self.value) == vars(other.value))
        return bool(self.value == other.value)

    def __hash__(self) -> int:
        return hash(type(self.value))


@dataclass(frozen=True)
class _Form:
    """An object without its tensors.

    Attributes:
        kind: its class.
        tree: the tree of its attributes.
        constants: the leaves of the tree that aren't tensors, by their positions.
        names: the paths of the tensors, such as `layers_0_keys`.
    """

    kind: type
    tree: Any
    constants: tuple[tuple[int, _Constant], ...]
    names: tuple[str, ...]


@dataclass(frozen=True)
class _Attributes:
    """The attributes of an object."""

    tensors: Sequence[Any]
    form: _Form = field(repr=False)

    def __repr__(self) -> str:
        if issubclass(self.form.kind, Enum):
            return str(self.restored())
        return f"{self.form.kind.__name__}({', '.join(map(str, self.tensors))})"

    def restored(self) -> Any:
        """Return an object with these attributes."""
        leaves = [*self.tensors]
        for position, constant in self.form.constants:
            leaves.insert(position, constant.value)
        if issubclass(self.form.kind, Enum):
            return leaves[0]
        made: Any = object.__new__(self.form.kind)
        made.__dict__.update(as_objects(pytree.tree_unflatten(leaves, self.form.tree)))
        return made


def _flatten(one: Any) -> tuple[list[Any], Any]:
    return [*one.tensors], one.form


def _flatten_with_keys(one: Any) -> tuple[list[tuple[pytree.KeyEntry, Any]], Any]:
    keys: list[Any] = [pytree.MappingKey(name) for name in one.form.names]
    return [*zip(keys, one.tensors, strict=True)], one.form


pytree.register_pytree_node(
    _Attributes,
    _flatten,
    lambda tensors, form: _Attributes([*tensors], form),
    flatten_with_keys_fn=_flatten_with_keys,
    serialized_type_name=f"{__name__}.{_Attributes.__name__}",
)

_WITHOUT = torch.Tensor, torch.nn.Module, type, types.ModuleType, types.FunctionType


class _SharedError(Exception):
    """An object with tensors is the attribute of several, or of itself, which trees can't tell."""


def as_trees(values: Any) -> Any:
    """Replace the objects with tensors in a tree by trees of their attributes."""
    seen: dict[int, bool] = {}

    def tree_of(leaf: Any) -> Any:
        try:
            return _tree_of(leaf, seen)
        except _SharedError:
            return leaf

    return pytree.tree_map(tree_of, values)


def _tree_of(leaf: Any, seen: dict[int, bool]) -> Any:
    """Return a leaf of a tree, or the tree of its attributes if there are tensors in them.

    Args:
        leaf: the leaf.
        seen: the identities of objects so far, and whether they have tensors.
    """
    if isinstance(leaf, Enum):
        return _Attributes([], _Form(type(leaf), None, ((0, _Constant(leaf)),), ()))
    own = getattr(leaf, "__dict__", None)
    if not own or isinstance(leaf, _WITHOUT):
        return leaf
    if id(leaf) in seen:
        if seen[id(leaf)]:
            raise _SharedError
        return leaf
    seen[id(leaf)] = True  # while its attributes are read
    inner = functools.partial(_tree_of, seen=seen)
    paths, tree = pytree.tree_flatten_with_path(pytree.tree_map(inner, {**own}))
    tensors = [(path, value) for path, value in paths if isinstance(value, torch.Tensor)]
    seen[id(leaf)] = bool(tensors)
    if not tensors:
        return leaf
    constants = [
        (position, _Constant(value))
        for position, (_, value) in enumerate(paths)
        if not isinstance(value, torch.Tensor)
    ]
    names = tuple("_".join(map(_name, path)) for path, _ in tensors)
    form = _Form(type(leaf), tree, tuple(constants), names)
    return _Attributes([value for _, value in tensors], form)


def _name(key: Any) -> str:
    """Return the name of a step on a path."""
    return str(next(getattr(key, name) for name in ("key", "idx", "name") if hasattr(key, name)))


def as_objects(values: Any) -> Any:
    """Replace the trees of attributes in a tree by the objects."""

    def is_tree(leaf: Any) -> bool:
        return isinstance(leaf, _Attributes)

    def object_of(leaf: Any) -> Any:
        return leaf.restored() if is_tree(leaf) else leaf

    return pytree.tree_map(object_of, values, is_leaf=is_tree)


@contextlib.contextmanager
def objects_inside(module: torch.nn.Module) -> Iterator[None]:
    """Give a module objects, and take them from it, as trees inside the `with` block."""
    forward = module.forward

    @functools.wraps(forward)
    def with_objects(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = as_objects((args, kwargs))
        return as_trees(forward(*args, **kwargs))

    with replaced_attribute(module, "forward", with_objects):
        yield
