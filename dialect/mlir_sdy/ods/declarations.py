# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The shape of the generated tables: what a declaration of the dialect consists of.

Written by hand; the declarations themselves are generated, in `mlir_sdy.ods.tables`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

# --- Assembly formats ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Literal:
    """A keyword or punctuation that stands in the text as it is."""

    text: str


@dataclass(frozen=True, slots=True)
class Whitespace:
    """Printed in place of the space that would stand here by default; may be empty."""

    text: str


@dataclass(frozen=True, slots=True)
class AttributeVariable:
    """The value of an attribute of the operation."""

    name: str


@dataclass(frozen=True, slots=True)
class OperandVariable:
    """The operand, or the operands, of this name."""

    name: str


@dataclass(frozen=True, slots=True)
class ResultVariable:
    """The result, or the results, of this name; occurs only where types are meant."""

    name: str


@dataclass(frozen=True, slots=True)
class RegionVariable:
    """The region of this name."""

    name: str


@dataclass(frozen=True, slots=True)
class AllOperands:
    """All operands."""


@dataclass(frozen=True, slots=True)
class AllResults:
    """All results; occurs only where types are meant."""


Values = OperandVariable | ResultVariable | AllOperands | AllResults


@dataclass(frozen=True, slots=True)
class AttrDict:
    """The attributes that no other directive writes, in braces; nothing if there are none."""


@dataclass(frozen=True, slots=True)
class Type:
    """The type, or the types, of values."""

    of: Values


@dataclass(frozen=True, slots=True)
class FunctionalType:
    """The types of operands and results as a function type."""

    operands: Values
    results: Values


@dataclass(frozen=True, slots=True)
class Custom:
    """Syntax that ODS can't express, written by hand under this name."""

    name: str
    arguments: tuple[Directive, ...]


@dataclass(frozen=True, slots=True)
class OptionalGroup:
    """A group that is written only if its anchor is present.

    The anchor is the name of an attribute or of variadic operands: present means that the
    attribute is there and differs from its default, or that there is at least one operand.
    """

    elements: tuple[Directive, ...]
    anchor: str


Directive = (
    Literal
    | Whitespace
    | AttributeVariable
    | RegionVariable
    | Values
    | AttrDict
    | Type
    | FunctionalType
    | Custom
    | OptionalGroup
)


# --- Operations ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ValueDecl:
    """Operands or results under one name.

    Attributes:
        name: empty for results that ODS leaves unnamed.
        type_constraint: the name of the ODS constraint, such as `AnyShaped`.
        variadic: whether there may be any number of them.
    """

    name: str
    type_constraint: str
    variadic: bool = False

    @property
    def has_groups(self) -> bool:
        """Whether IRDL needs to know the types one by one (see `mlir_sdy.ods.irdl_groups`)."""
        return self.variadic and self.type_constraint == "AnyType"


@dataclass(frozen=True, slots=True)
class OpAttributeDecl:
    """An attribute of an operation.

    Attributes:
        kind: `sdy.<mnemonic>`, `enum <name>`, `i64`, `string`, `symbol` or `elements`.
        optional: whether it may be absent.
        default: what its absence means; for an enum the name of a case, such as `"SUM"`.
    """

    name: str
    kind: str
    optional: bool = False
    default: str | None = None


@dataclass(frozen=True, slots=True)
class RegionDecl:
    """A region of an operation; `blocks` is how many it has, or None for any number."""

    name: str
    blocks: int | None = None


@dataclass(frozen=True, slots=True)
class OperationDecl:
    """An operation.

    Attributes:
        name: with the dialect, such as `sdy.all_gather`.
        class_name: the class in `mlir_sdy.ods._sdy_ops_gen`.
        traits: ODS names of traits and interfaces, such as `Pure` or `HasParent<ModuleOp>`.
        directives: the assembly format, parsed; none if the host prints the operation.
    """

    name: str
    class_name: str
    summary: str
    operands: tuple[ValueDecl, ...] = ()
    attributes: tuple[OpAttributeDecl, ...] = ()
    results: tuple[ValueDecl, ...] = ()
    regions: tuple[RegionDecl, ...] = ()
    traits: tuple[str, ...] = ()
    directives: tuple[Directive, ...] = ()

    @property
    def attribute_names(self) -> frozenset[str]:
        """The names of the attributes."""
        return frozenset(attribute.name for attribute in self.attributes)

    @property
    def names_in_format(self) -> frozenset[str]:
        """The names of the attributes that the assembly format writes outside of `attr-dict`."""
        return frozenset(_attributes_in(self.directives))

    def attribute(self, name: str) -> OpAttributeDecl:
        """The attribute called `name`."""
        return next(attribute for attribute in self.attributes if attribute.name == name)

    def operand(self, name: str) -> ValueDecl:
        """The operand, or the operands, called `name`."""
        return next(operand for operand in self.operands if operand.name == name)


def _attributes_in(directives: tuple[Directive, ...]) -> Iterator[str]:
    for directive in directives:
        if isinstance(directive, AttributeVariable):
            yield directive.name
        elif isinstance(directive, OptionalGroup):
            yield from _attributes_in(directive.elements)
        elif isinstance(directive, Custom):
            yield from _attributes_in(directive.arguments)


# --- Attributes and enums -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ParameterDecl:
    """A parameter of an attribute.

    Attributes:
        kind: `int`, `bool`, `string`, `int_array`, `mesh_or_ref`, `attr:<mnemonic>`,
            `enum:<name>`, `array:<mnemonic>` or `array:string`.
        optional: whether it may be absent, which is the Python value None.
        default: the value when none is given, if there is one; for an enum the name of a case.
    """

    name: str
    kind: str
    description: str
    optional: bool = False
    default: bool | str | tuple[()] | None = None


@dataclass(frozen=True, slots=True)
class AttributeDecl:
    """An attribute of the dialect; `class_name` is its class in `mlir_sdy.ods.attributes`."""

    mnemonic: str
    class_name: str
    summary: str
    parameters: tuple[ParameterDecl, ...]


@dataclass(frozen=True, slots=True)
class EnumCaseDecl:
    """A case of an enum: `name` in Python, `keyword` in the IR's text, `value` in its attribute."""

    name: str
    keyword: str
    value: int


@dataclass(frozen=True, slots=True)
class EnumDecl:
    """An enum; `name` is also that of its class in `mlir_sdy.model`."""

    name: str
    summary: str
    cases: tuple[EnumCaseDecl, ...]

