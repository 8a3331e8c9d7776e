# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A typed class for each attribute."""

from __future__ import annotations

from textwrap import wrap

from dialect_generator.declarations import Declarations
from dialect_generator.layout import LINE_LENGTH, PYTHON_HEADER
from mlir_sdy.ods.declarations import (
    AttributeDecl,
    ParameterDecl,
)


class AttributeClasses:
    """Writes `attributes.py`: a class with typed parameters for each attribute."""

    def __init__(self, declarations: Declarations):
        self.declarations = declarations

    def source(self) -> str:
        """The module."""
        attributes = self.declarations.attributes.values()
        exported = "".join(f'    "{name}",\n' for name in sorted(a.class_name for a in attributes))
        enums = sorted(
            {
                parameter.kind.partition(":")[2]
                for attribute in attributes
                for parameter in attribute.parameters
                if parameter.kind.startswith("enum:")
            }
        )
        classes = "\n\n".join(map(self._class, attributes))
        return (
            f'{PYTHON_HEADER}"""The attributes of the dialect as typed classes."""\n\n'
            "from __future__ import annotations\n\n"
            "from collections.abc import Sequence\n\n"
            "from mlir_sdy import model\n"
            "from mlir_sdy.attribute_base import SdyAttribute\n"
            "from mlir_sdy.host import ir\n"
            f"from mlir_sdy.model import {', '.join(enums)}\n\n"
            f"__all__ = [\n{exported}]\n\n\n{classes}"
        )

    def _class(self, attribute: AttributeDecl) -> str:
        names = [parameter.name for parameter in attribute.parameters]
        values = f"({', '.join(names)}{',' if len(names) == 1 else ''})"
        build = f"        return cls.build({values}, context)"
        if len(build) > LINE_LENGTH:
            lines = "".join(f"            {name},\n" for name in names)
            build = (
                f"        values = (\n{lines}        )\n        return cls.build(values, context)"
            )
        documented = "".join(self._documented(parameter) for parameter in attribute.parameters)
        properties = "".join(
            f"""
    @property
    def {parameter.name}(self) -> {self._type(parameter)}:
        \"\"\"{self._sentence(parameter.description)}\"\"\"
        return self.parameter({index})
"""
            for index, parameter in enumerate(attribute.parameters)
            if parameter.name != "value"  # the plain value has that name, and the same elements
        )
        parameters = ["cls", *map(self._get_parameter, attribute.parameters), "*"]
        parameters.append("context: ir.Context | None = None")
        signature = f"    def get({', '.join(parameters)}) -> {attribute.class_name}:"
        if len(signature) > LINE_LENGTH:
            lines = "".join(f"        {parameter},\n" for parameter in parameters)
            signature = f"    def get(\n{lines}    ) -> {attribute.class_name}:"
        return f'''class {attribute.class_name}(SdyAttribute):
    """{self._sentence(attribute.summary)}"""

    mnemonic = "{attribute.mnemonic}"

    @property
    def value(self) -> model.{attribute.class_name.removesuffix("Attr")}:
        """The plain value that this attribute stands for."""
        return self.plain_value()
{properties}
    @classmethod
{signature}
        """The attribute with these parameters.

        Args:
{documented}            context: where the attribute lives; the current context if not given.
        """
{build}
'''

    def _documented(self, parameter: ParameterDecl) -> str:
        text = f"{parameter.name}: {parameter.description}."
        return "".join(
            f"{line}\n"
            for line in wrap(text, LINE_LENGTH, initial_indent=" " * 12, subsequent_indent=" " * 16)
        )

    def _sentence(self, text: str) -> str:
        return f"{text[0].upper()}{text[1:]}."

    def _get_parameter(self, parameter: ParameterDecl) -> str:
        annotation = self._type(parameter).replace("tuple[", "Sequence[").replace(", ...]", "]")
        default = ""
        if parameter.optional:
            default = " = None"
        elif parameter.kind.startswith("enum:") and parameter.default is not None:
            default = f" = {parameter.kind.partition(':')[2]}.{parameter.default}"
        elif parameter.default is not None:
            default = f" = {parameter.default!r}"
        return f"{parameter.name}: {annotation}{default}"

    def _type(self, parameter: ParameterDecl) -> str:
        annotation = self._kind_type(parameter.kind)
        return f"{annotation} | None" if parameter.optional else annotation

    def _kind_type(self, kind: str) -> str:
        family, _, name = kind.partition(":")
        match family:
            case "array" if name != "string":
                return f"tuple[{self.declarations.attributes[name].class_name}, ...]"
            case "attr":
                return self.declarations.attributes[name].class_name
            case "enum":
                return name
        return {
            "int": "int",
            "bool": "bool",
            "string": "str",
            "int_array": "tuple[int, ...]",
            "array": "tuple[str, ...]",
            "mesh_or_ref": "MeshAttr | str",
        }[family]
