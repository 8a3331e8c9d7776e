# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversion of TableGen records to declarations of the dialect."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dialect_generator.formats import FormatParser
from dialect_generator.tablegen import Record, Records, text_of, unqualified
from mlir_sdy.ods.declarations import (
    AttributeDecl,
    AttributeVariable,
    Directive,
    EnumCaseDecl,
    EnumDecl,
    OpAttributeDecl,
    OperandVariable,
    OperationDecl,
    ParameterDecl,
    RegionDecl,
    RegionVariable,
    ResultVariable,
    ValueDecl,
)


class OperationDeclarations:
    """The operations and enums of a dialect, from its records.

    Args:
        source: the file in td/.
        dialect: the name of the dialect.
        prefix: the prefix of the names of its records.
    """

    def __init__(self, source: str, dialect: str, prefix: str):
        self.records = Records(source)
        self.dialect = dialect
        self.prefix = prefix
        self.enums = {
            record["className"]: self._enum(record)
            for record in self.records.of_dialect("EnumInfo", prefix)
        }
        self.operations = {
            f"{dialect}.{record['opName']}": self._operation(record)
            for record in self.records.of_dialect("Op", prefix)
        }

    def _enum(self, record: Record) -> EnumDecl:
        cases = map(self.records.resolve, record["enumerants"])
        return EnumDecl(
            name=record["className"],
            summary=record["summary"],
            cases=tuple(EnumCaseDecl(case["symbol"], case["str"], case["value"]) for case in cases),
        )

    # Operations

    def _operation(self, record: Record) -> OperationDecl:
        arguments = self.records.arguments(record["arguments"])
        operands = tuple(
            self._value(constraint, name)
            for constraint, name in arguments
            if "TypeConstraint" in constraint["!superclasses"]
        )
        attributes = tuple(
            self._op_attribute(constraint, name)
            for constraint, name in arguments
            if "AttrConstraint" in constraint["!superclasses"]
        )
        results = tuple(
            self._value(constraint, name)
            for constraint, name in self.records.arguments(record["results"])
        )
        regions = tuple(
            self._region(constraint, name)
            for constraint, name in self.records.arguments(record["regions"])
        )
        assembly_format = " ".join(text_of(record["assemblyFormat"]).split())
        variables: dict[str, Directive] = {
            **{operand.name: OperandVariable(operand.name) for operand in operands},
            **{attribute.name: AttributeVariable(attribute.name) for attribute in attributes},
            **{region.name: RegionVariable(region.name) for region in regions},
        }
        # An operand and a result may share a name (`results` of `sdy.return`), never both in use.
        for result in results:
            variables.setdefault(result.name, ResultVariable(result.name))
        return OperationDecl(
            name=f"{self.dialect}.{record['opName']}",
            class_name=record["!name"].removeprefix(self.prefix),
            summary=record["summary"],
            operands=operands,
            attributes=attributes,
            results=results,
            regions=regions,
            traits=tuple(dict.fromkeys(self._traits(map(self.records.resolve, record["traits"])))),
            directives=FormatParser(assembly_format, variables).parse(),
        )

    def _value(self, record: Record, name: str) -> ValueDecl:
        variadic = "Variadic" in record["!superclasses"]
        constraint = self.records.resolve(record["baseType"]) if variadic else record
        return ValueDecl(name, constraint["!name"], variadic)

    def _op_attribute(self, record: Record, name: str) -> OpAttributeDecl:
        optional, default = False, None
        while record.get("baseAttr"):
            optional = True
            if record["defaultValue"]:
                default = unqualified(record["defaultValue"])
            record = self.records.resolve(record["baseAttr"])
        return OpAttributeDecl(name, self._op_attribute_kind(record), optional, default)

    def _op_attribute_kind(self, record: Record) -> str:
        if "AttrDef" in record["!superclasses"]:
            return f"{self.records.resolve(record['dialect'])['name']}.{record['mnemonic']}"
        if "EnumAttrInfo" in record["!superclasses"]:
            return f"enum {record['className']}"
        return {
            "I64Attr": "i64",
            "UI32Attr": "ui32",
            "Mpmd_OriginArray": "array",
            "StrAttr": "string",
            "SymbolNameAttr": "symbol",
            "ElementsAttr": "elements",
            "FlatSymbolRefAttr": "reference",
            "IndexAttr": "index",
            "DenseI64ArrayAttr": "i64 array",
            "Shard_GridAxesAttr": "i16 array",
            "UnitAttr": "unit",
        }[record["!name"]]

    def _region(self, record: Record, name: str) -> RegionDecl:
        size = re.search(r"region with (\d+) blocks", record["summary"])
        return RegionDecl(name, int(size[1]) if size else None)

    def _traits(self, records: Iterator[Record]) -> Iterator[str]:
        for record in records:
            if not record["!anonymous"]:
                yield record["!name"].removeprefix(self.prefix)
            elif "traits" in record and "TraitList" in record["!superclasses"]:
                yield from self._traits(map(self.records.resolve, record["traits"]))
            elif record.get("cppInterfaceName"):
                yield record["cppInterfaceName"]
            elif "trait" not in record:
                yield record["!superclasses"][-1]  # a condition written in C++
            else:
                trait = record["trait"].removesuffix("::Impl")
                yield re.sub(r"(\w+::|::)+", "", trait)


class Declarations(OperationDeclarations):
    """All declarations of a dialect: operations, enums, attributes and types."""

    def __init__(self, source: str = "SdyOps.td", dialect: str = "sdy", prefix: str = "Sdy_"):
        super().__init__(source, dialect, prefix)
        records = self.records
        self.mnemonics = {
            record["cppClassName"]: record["mnemonic"] for record in records.of_class("AttrDef")
        }
        self.attributes = {
            record["mnemonic"]: self._attribute(record)
            for record in records.of_dialect("AttrDef", prefix)
        }
        self.types = {
            record["mnemonic"]: self._attribute(record)
            for record in records.of_dialect("TypeDef", prefix)
        }

    # Attributes

    def _attribute(self, record: Record) -> AttributeDecl:
        return AttributeDecl(
            mnemonic=record["mnemonic"],
            class_name=record["cppClassName"],
            summary=record["summary"],
            parameters=tuple(
                self._parameter(parameter, name)
                for parameter, name in self.records.arguments(record["parameters"])
            ),
        )

    def _parameter(self, record: Record, name: str) -> ParameterDecl:
        cpp_type = record["cppType"]
        kind = self._parameter_kind(record, cpp_type)
        has_default = bool(record["defaultValue"])
        is_array = kind.startswith("array:") or kind == "int_array"
        default: bool | str | tuple[()] | None = None
        if has_default and is_array:
            default = ()
        elif "DefaultValuedParameter" in record["!superclasses"]:
            value = unqualified(record["defaultValue"])
            default = value == "true" if kind == "bool" else value
        return ParameterDecl(
            name=name,
            kind=kind,
            description=record["summary"],
            optional=has_default and default is None,
            default=default,
        )

    def _parameter_kind(self, record: Record, cpp_type: str) -> str:
        if "Sdy_MeshOrRefParameter" in record["!superclasses"]:
            return "mesh_or_ref"
        if match := re.fullmatch(r"::llvm::ArrayRef<(.*)>", cpp_type):
            element = unqualified(match[1])
            if element == "int64_t":
                return "int_array"
            return f"array:{'string' if element == 'StringAttr' else self.mnemonics[element]}"
        if match := re.fullmatch(r"std::optional<(.*)>", cpp_type):
            cpp_type = match[1]
        name = unqualified(cpp_type)
        if name in self.enums:
            return f"enum:{name}"
        if name in self.mnemonics:
            return f"attr:{self.mnemonics[name]}"
        if name == "RankedTensorType":
            return "tensor"
        return {"int64_t": "int", "bool": "bool", "StringRef": "string"}[name]
