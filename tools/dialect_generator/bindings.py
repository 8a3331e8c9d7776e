# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The classes of operations and enums by mlir-tblgen, adapted to this dialect."""

from __future__ import annotations

import re
from collections.abc import Iterable

from dialect_generator.declarations import Declarations
from dialect_generator.layout import PYTHON_HEADER
from dialect_generator.tablegen import tblgen, without_notice
from mlir_sdy.ods.declarations import (
    OpAttributeDecl,
)

OPS_IMPORTS = """
from mlir_sdy.host import cext as _ods_cext, ir as _ods_ir, ods_common as _ods_common
from mlir_sdy.ods import _sdy_enum_gen, irdl_groups as _irdl_groups

"""

GROUP_SIZES = '''

def _set_group_sizes(attributes, name, types, context):
  """See `irdl_groups`; the types are those of all operands or results."""
  sizes = _irdl_groups.group_sizes(types)
  attributes[name] = _ods_ir.DenseI32ArrayAttr.get(sizes, context=context)
'''

SET_OPERAND_SIZES = (
    "    _set_group_sizes(attributes, _irdl_groups.OPERAND_SIZES, "
    "[_get_op_result_or_value(operand).type for operand in operands], _ods_context)\n"
)
SET_RESULT_SIZES = (
    "    _set_group_sizes(attributes, _irdl_groups.RESULT_SIZES, results, _ods_context)\n"
)
_ENUMS = ("EdgeNodeType", "PropagationDirection", "ReductionOp")
"""The enums of `mlir_sdy.model` that belong to the dialect."""

BUILD = "    super().__init__(self.OPERATION_NAME,"


def operation_classes(declarations: Declarations) -> str:
    """Return `_sdy_ops_gen.py`, the classes of the operations, by mlir-tblgen."""
    text = tblgen("mlir-tblgen", "SdyOps.td", "-gen-python-op-bindings", "-bind-dialect=sdy")
    text = without_notice(text)
    imports = re.compile(
        r"from \._ods_common import _cext as _ods_cext\n"
        r"from \._ods_common import \((?P<names>[^)]*)\)\n"
    )
    found = imports.search(text)
    assert found is not None, "mlir-tblgen writes its imports in another way than expected"
    helpers = re.findall(r"(\w+) as (\w+)", found["names"])
    helpers.append(("get_op_result_or_value", "_get_op_result_or_value"))
    lines = "".join(f"{alias} = _ods_common.{name}\n" for name, alias in helpers)
    text = imports.sub(lambda _: OPS_IMPORTS.lstrip() + lines, text, count=1)
    text = text.replace("_ods_ir = _ods_cext.ir\n", "", 1)
    marker = '  DIALECT_NAMESPACE = "sdy"\n'
    text = text.replace(marker, marker + GROUP_SIZES)
    for declaration in declarations.operations.values():
        added = "".join(
            line
            for line, values in (
                (SET_OPERAND_SIZES, declaration.operands),
                (SET_RESULT_SIZES, declaration.results),
            )
            if any(value.has_groups for value in values)
        )
        head, separator, tail = text.partition(f"class {declaration.class_name}(_ods_ir.OpView):")
        tail = tail.replace(BUILD, added + BUILD, 1)
        for attribute in declaration.attributes:
            if attribute.default is not None:
                # MLIR doesn't set default attributes of operations that are registered at run time.
                read = f'    return self.operation.attributes["{attribute.name}"]\n'
                tail = tail.replace(read, _default_value(declarations, attribute) + read, 1)
        text = head + separator + tail
    doc = '"""The operations of the dialect as classes, with builders."""\n'
    return f"{PYTHON_HEADER}{doc}\n{text}"


def public_names(sources: Iterable[str]) -> str:
    """Return `_sdy_names_gen.py`, the public names of the dialect, which doesn't load MLIR.

    Args:
        sources: the generated files of classes and builders.
    """
    found = {
        name
        for source in sources
        for name in re.findall(r"^(?:class|def) ([A-Za-z]\w*)", source, re.M)
    }
    names = "".join(f'    "{name}",\n' for name in sorted({*found, *_ENUMS}))
    doc = '"""The names of the classes and builders of the dialect, for completion and exports."""'
    return f"{PYTHON_HEADER}{doc}\n\n__all__ = [\n{names}]\n"


def _default_value(declarations: Declarations, attribute: OpAttributeDecl) -> str:
    """Return the lines that return the default of an absent attribute."""
    enum = declarations.enums[attribute.kind.removeprefix("enum ")]
    value = next(case.value for case in enum.cases if case.name == attribute.default)
    return (
        f'    if "{attribute.name}" not in self.operation.attributes:\n'
        f"      return _ods_ir.AttrBuilder.get('Sdy_{enum.name}')({value}, "
        "context=self.operation.context)\n"
    )


def enum_builders() -> str:
    """Return `_sdy_enum_gen.py`, by which the builders of operations accept enum cases.

    The enum classes of mlir-tblgen are omitted: those of `mlir_sdy.model` have more methods and
    don't load MLIR.
    """
    text = tblgen("mlir-tblgen", "SdyOps.td", "-gen-python-enum-bindings", "-bind-dialect=sdy")
    builders = re.findall(r"^@register_attribute_builder.*?(?=\n\n|\Z)", text, re.M | re.S)
    return (
        f'{PYTHON_HEADER}"""Lets builders of operations take cases of the enums."""\n\n'
        "from mlir_sdy.host import ir as _ods_ir\n\n"
        "register_attribute_builder = _ods_ir.register_attribute_builder\n\n\n"
        + "\n\n\n".join(map(str.strip, builders))
        + "\n"
    )
