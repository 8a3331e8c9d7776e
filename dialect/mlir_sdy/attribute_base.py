# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Base of the attribute classes of the dialect, with typed parameters.

The dialect is registered by IRDL, whose attributes have other attributes as parameters. The
declaration of each attribute (`mlir_sdy.ods.tables`) has the Python types of its parameters, and
this module converts: 64-bit integers, booleans, strings, enum cases, tuples of attributes, and
None for an absent optional parameter (`unit` in the IR).
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, cast

from mlir_sdy import model
from mlir_sdy.host import current_context, identity, ir
from mlir_sdy.notebook import html_of
from mlir_sdy.ods.tables import ATTRIBUTES

if TYPE_CHECKING:
    from typing_extensions import Self

Encode = Callable[[Any, ir.Context], ir.Attribute]
Decode = Callable[[Any], Any]


VALUE_CLASSES: dict[str, type[Any]] = {
    mnemonic: getattr(model, declaration.class_name.removesuffix("Attr"))
    for mnemonic, declaration in ATTRIBUTES.items()
}
"""The class of each attribute's plain value, by the attribute's name."""


class SdyAttribute(ir.DynamicAttr):
    """Base of the typed attributes of the dialect.

    Attributes:
        mnemonic: the attribute's name in the dialect, as in `#sdy.<mnemonic>`.
    """

    mnemonic: ClassVar[str]

    def parameter(self, index: int) -> Any:
        """Return the parameter at `index` as a Python value."""
        return _codecs(self.mnemonic)[index][1](self.params[index].maybe_downcast())

    @classmethod
    def build(cls, values: tuple[Any, ...], context: ir.Context | None) -> Self:
        """Build the attribute with the given parameters, in the order of their declaration."""
        context = current_context() if context is None else context
        with context:
            parameters = [
                encode(value, context)
                for (encode, _), value in zip(_codecs(cls.mnemonic), values, strict=True)
            ]
            return cls(ir.DynamicAttr.get(f"sdy.{cls.mnemonic}", parameters))

    def plain_value(self) -> Any:
        """The plain value of this attribute (see `mlir_sdy.model`)."""
        return value_of(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.plain_value()})"

    def _repr_html_(self) -> str:
        """Return HTML for notebooks: the text, and what the renderer adds to it."""
        return html_of(repr(self), self.plain_value())


# Attributes live as long as their context and are unique in it, so the hash of one (its address)
# identifies it without keeping the context alive, as holding the attribute would.
_values: weakref.WeakKeyDictionary[ir.Context, dict[int, Any]] = weakref.WeakKeyDictionary()
# Entries of the last context used, since nearly all calls are for one.
_last: tuple[weakref.ref[ir.Context] | None, dict[int, Any]] = (None, {})


def value_of(attribute: ir.Attribute) -> Any:
    """Return the plain value of an attribute of the dialect; cached for each attribute."""
    global _last  # noqa: PLW0603 (a call takes a third of the time)
    context = attribute.context
    reference, known = _last
    if reference is None or reference() is not context:
        known = _values.setdefault(context, {})
        _last = weakref.ref(context), known
    key = identity(attribute)
    value = known.get(key)
    if value is None:
        value = known[key] = _convert_to_value(attribute)
    return value


def _convert_to_value(attribute: Any) -> Any:
    parameters = (attribute.parameter(index) for index in range(len(attribute.params)))
    return VALUE_CLASSES[attribute.mnemonic](*map(_plain, parameters))


def _plain(parameter: Any) -> Any:
    if isinstance(parameter, SdyAttribute):
        return value_of(parameter)
    if isinstance(parameter, tuple):
        return tuple(map(_plain, cast("tuple[Any, ...]", parameter)))
    return parameter


def _encode_integer(value: int, context: ir.Context) -> ir.Attribute:
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64, context), value)


def _encode_enum(value: int, context: ir.Context) -> ir.Attribute:
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(32, context), int(value))


def _encode_mesh_or_ref(value: Any, context: ir.Context) -> ir.Attribute:
    return ir.FlatSymbolRefAttr.get(value, context) if isinstance(value, str) else value


def _decode_mesh_or_ref(value: Any) -> Any:
    return value.value if isinstance(value, ir.FlatSymbolRefAttr) else value


def _encode_string(value: Any, context: ir.Context) -> ir.Attribute:
    return ir.StringAttr.get(value, context) if isinstance(value, str) else value


_CODECS: dict[str, tuple[Encode, Decode]] = {
    "int": (_encode_integer, int),
    "bool": (ir.BoolAttr.get, bool),
    "string": (_encode_string, lambda value: value.value),
    "int_array": (lambda value, context: ir.DenseI64ArrayAttr.get(list(value), context), tuple),
    "mesh_or_ref": (_encode_mesh_or_ref, _decode_mesh_or_ref),
    "attr": (lambda value, _: value, lambda value: value),
    "array": (lambda value, context: ir.ArrayAttr.get(list(value), context), tuple),
    "array:string": (
        lambda value, context: ir.ArrayAttr.get(
            [_encode_string(item, context) for item in value], context
        ),
        lambda value: tuple(item.value for item in value),
    ),
}


def _optional(codec: tuple[Encode, Decode]) -> tuple[Encode, Decode]:
    encode, decode = codec

    def encode_optional(value: Any, context: ir.Context) -> ir.Attribute:
        return ir.UnitAttr.get(context) if value is None else encode(value, context)

    def decode_optional(value: Any) -> Any:
        return None if isinstance(value, ir.UnitAttr) else decode(value)

    return encode_optional, decode_optional


def _enum(name: str) -> tuple[Encode, Decode]:
    cases = getattr(model, name)
    return _encode_enum, lambda value: cases(value.value)


@cache
def _codecs(mnemonic: str) -> tuple[tuple[Encode, Decode], ...]:
    """Return the encoders and decoders of the attribute's parameters."""
    codecs: list[tuple[Encode, Decode]] = []
    for parameter in ATTRIBUTES[mnemonic].parameters:
        family, _, detail = parameter.kind.partition(":")
        if family == "enum":
            codec = _enum(detail)
        else:
            codec = _CODECS.get(parameter.kind) or _CODECS[family]
        codecs.append(_optional(codec) if parameter.optional else codec)
    return tuple(codecs)
