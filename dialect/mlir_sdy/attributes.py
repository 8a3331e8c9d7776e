# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversion between the attributes of the IR and the plain values of `mlir_sdy.model`.

An attribute and its value have the same parameters under the same names and in the same order, so
one conversion serves all of them. The typed attribute classes, and `value_of`, are re-exported
from here.
"""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from typing import Any, cast

from mlir_sdy.attribute_base import VALUE_CLASSES, SdyAttribute, value_of  # noqa: F401 (value_of is re-exported)
from mlir_sdy.host import cext, current_context, ir
from mlir_sdy.ods import attributes as _generated
from mlir_sdy.ods.attributes import *  # noqa: F403 (the generated classes, re-exported)
from mlir_sdy.ods.tables import ATTRIBUTES

ATTRIBUTE_CLASSES: dict[str, type[SdyAttribute]] = {
    mnemonic: getattr(_generated, declaration.class_name)
    for mnemonic, declaration in ATTRIBUTES.items()
}
"""The class of each attribute, by the attribute's name."""

_MNEMONICS = {value_class: mnemonic for mnemonic, value_class in VALUE_CLASSES.items()}


def mnemonic_of(value: Any) -> str:
    """Return the name of the attribute of a plain value; empty for a value of another dialect."""
    value_class: type[Any] = value.__class__
    return _MNEMONICS.get(value_class, "")


@cache
def _field_names(value_class: type[Any]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(value_class))


def attribute_of(value: Any, context: ir.Context | None = None) -> Any:
    """Build the attribute of a plain value; see `AttributeCache` for many of them."""
    context = current_context() if context is None else context
    return AttributeCache(context)[value]


class AttributeCache(dict[Any, Any]):
    """Attributes by their plain values, each built once: `cache[value]`.

    Attributes keep their context alive, so there is no global cache: make one for each task and
    drop it afterwards.
    """

    def __init__(self, context: ir.Context):
        super().__init__()
        self.context = context

    def __missing__(self, value: Any) -> Any:
        attribute_class = ATTRIBUTE_CLASSES[mnemonic_of(value)]
        names = _field_names(value.__class__)
        parameters = tuple(self._parameter(getattr(value, name)) for name in names)
        attribute = self[value] = attribute_class.build(parameters, self.context)
        return attribute

    def _parameter(self, parameter: Any) -> Any:
        if type(parameter) in _MNEMONICS:
            return self[parameter]
        if isinstance(parameter, tuple):
            return tuple(map(self._parameter, cast("tuple[Any, ...]", parameter)))
        return parameter


def register_attribute_classes(context: ir.Context) -> None:
    """Register the attribute classes so that the bindings return them for attributes in the IR.

    The type id of a dynamic attribute is specific to its context, so every context needs this.
    """
    with context:
        for mnemonic, attribute_class in ATTRIBUTE_CLASSES.items():
            kind = ir.DynamicAttr.lookup_typeid(f"sdy.{mnemonic}")
            cext.register_type_caster(kind, replace=True)(attribute_class)
