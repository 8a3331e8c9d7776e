# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The declarations as IRDL modules, which register the dialect."""

from __future__ import annotations

from textwrap import indent
from typing import Any

from dialect_generator.declarations import Declarations
from dialect_generator.layout import NOTICE
from mlir_sdy.ods.declarations import (
    OperationDecl,
    ParameterDecl,
    ValueDecl,
)

SHAPED_TYPES = ("tensor", "unranked_tensor", "vector", "memref", "unranked_memref")

ON_MESHES = ("sdy.data_flow_edge",)
"""The operations on values of mesh tensor types, too, which IRDL of sdy can't name."""

IRDL_NOTICE = f"// {NOTICE}\n// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n"


class IrdlBlock:
    """The constraints and declarations of one IRDL attribute or operation."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._count = 0

    def define(self, constraint: str) -> str:
        """Define a variable for a constraint, and return its name."""
        variable = f"%{self._count}"
        self._count += 1
        self.lines.append(f"{variable} = {constraint}")
        return variable

    def any_of(self, *constraints: str) -> str:
        """Define a variable that satisfies one of several constraints, and return its name."""
        return self.define(f"irdl.any_of({', '.join(map(self.define, constraints))})")

    def declare(self, what: str, fields_: list[str], brackets: str = "()") -> None:
        """Add a declaration such as `irdl.operands`, if it has any fields."""
        if fields_:
            self.lines.append(f"irdl.{what}{brackets[0]}{', '.join(fields_)}{brackets[1]}")

    def render(self, what: str, name: str) -> str:
        """Return the block as text."""
        return f"  irdl.{what} @{name} {{\n{indent(chr(10).join(self.lines), ' ' * 4)}\n  }}\n"


class IrdlWriter:
    """Writes the dialect as two IRDL modules.

    There are two, since a module can't hold an attribute and an operation of one name (`mesh`).
    """

    def __init__(self, declarations: Declarations):
        self.declarations = declarations

    def attributes(self) -> str:
        """The module of the attributes and types."""
        blocks = []
        for what, declared in (
            ("attribute", self.declarations.attributes),
            ("type", self.declarations.types),
        ):
            for declaration in declared.values():
                block = IrdlBlock()
                names = [
                    f"{parameter.name}: {self._parameter(block, parameter)}"
                    for parameter in declaration.parameters
                ]
                block.declare("parameters", names)
                blocks.append(block.render(what, declaration.mnemonic))
        return self._module(blocks)

    def operations(self) -> str:
        """The module of the operations; refers to the attributes as registered ones."""
        return self._module(map(self._operation, self.declarations.operations.values()))

    def _module(self, blocks: Any) -> str:
        dialect = self.declarations.dialect
        return f"{IRDL_NOTICE}\nirdl.dialect @{dialect} {{\n{chr(10).join(blocks)}}}\n"

    def _parameter(self, block: IrdlBlock, parameter: ParameterDecl) -> str:
        constraints = self._parameter_constraints(parameter.kind)
        if parameter.optional:
            constraints = ("irdl.is unit", *constraints)
        return block.define(*constraints) if len(constraints) == 1 else block.any_of(*constraints)

    def _parameter_constraints(self, kind: str) -> tuple[str, ...]:
        family, _, name = kind.partition(":")
        match family:
            case "bool":
                return ("irdl.is false", "irdl.is true")
            case "enum":
                return self._enum_constraints(name)
            case "attr" if name in self.declarations.attributes:
                return (f"irdl.base @{self.declarations.dialect}::@{name}",)
            case "attr":
                return (f'irdl.base "#sdy.{name}"',)
            case "tensor":
                return ('irdl.base "!builtin.tensor"',)
            case "mesh_or_ref":
                return ('irdl.base "#builtin.symbol_ref"', "irdl.base @sdy::@mesh")
        base = {
            "int": "integer",
            "string": "string",
            "int_array": "dense_array",
            "array": "array",
        }[family]
        return (f'irdl.base "#builtin.{base}"',)

    def _enum_constraints(self, name: str) -> tuple[str, ...]:
        cases = self.declarations.enums[name].cases
        return tuple(f"irdl.is {case.value} : i32" for case in cases)

    def _operation(self, declaration: OperationDecl) -> str:
        block = IrdlBlock()
        shared: dict[str, str] = {}
        # A shared variable makes the types equal.
        same_types = "SameOperandsAndResultType" in declaration.traits

        def values(declared: tuple[ValueDecl, ...]) -> list[str]:
            texts = []
            for value in declared:
                constraint = value.type_constraint
                variable = shared.get(constraint) if same_types else None
                if variable is None:
                    known = "AnyType" if declaration.name in ON_MESHES else constraint
                    variable = shared[constraint] = self._type(block, known)
                variadic = "variadic " if value.variadic else ""
                texts.append(f"{value.name or 'results'}: {variadic}{variable}")
            return texts

        block.declare("operands", values(declaration.operands))
        block.declare("results", values(declaration.results))
        # IRDL has no optional attributes; they are not declared and therefore unconstrained.
        required = [
            f'"{attribute.name}" = {self._attribute(block, attribute.kind)}'
            for attribute in declaration.attributes
            if not attribute.optional
        ]
        if required:
            block.lines.append(f"irdl.attributes {{{', '.join(required)}}}")
        regions = []
        for region in declaration.regions:
            size = "" if region.blocks is None else f" with size {region.blocks}"
            regions.append(f"{region.name}: {block.define(f'irdl.region{size}')}")
        block.declare("regions", regions)
        return block.render("operation", declaration.name.partition(".")[2])

    def _type(self, block: IrdlBlock, constraint: str) -> str:
        match constraint:
            case "AnyType":
                return block.define("irdl.any")
            case "AnyShaped":
                return block.any_of(*(f'irdl.base "!builtin.{name}"' for name in SHAPED_TYPES))
            case "AnyRankedTensor" | "AnyStaticShapeTensor":
                return block.define('irdl.base "!builtin.tensor"')
        raise ValueError(f"no IRDL constraint is known for the ODS type constraint {constraint}")

    def _attribute(self, block: IrdlBlock, kind: str) -> str:
        if "." in kind:
            return block.define(f'irdl.base "#{kind}"')
        if kind.startswith("enum "):
            return block.any_of(*self._enum_constraints(kind.removeprefix("enum ")))
        if kind == "elements":  # an interface, which IRDL can't name
            return block.define("irdl.any")
        base = {
            "array": "array",
            "i64": "integer",
            "reference": "symbol_ref",
            "string": "string",
            "symbol": "string",
            "ui32": "integer",
        }[kind]
        return block.define(f'irdl.base "#builtin.{base}"')
