# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Alternatives to operations of PyTorch that can't be expressed in StableHLO."""

from __future__ import annotations

import ast

from pyshardy.frontends.torch.registry import name_of

SHAPES_OF_VALUES = {
    "aten.nonzero": "use torch.where with three arguments, or torch.nonzero_static with a size",
    "aten.argwhere": "use torch.where with three arguments, or torch.nonzero_static with a size",
    "aten.masked_select": "use torch.where, or multiply by the mask",
    "aten.index": "replace an index of booleans by torch.where, or multiply by the mask",
    "aten.unique_consecutive": "use sdy.torch.unique with a size",
    "aten._unique2": "use sdy.torch.unique with a size",
    "aten.unique_dim": "use sdy.torch.unique with a size",
    "aten.bincount": "give 'minlength' a bound of the values",
    "aten.repeat_interleave": "give 'output_size', or repeats as a number",
    "aten.histogramdd": "give the edges of the bins",
    "aten.combinations": "use indices that don't depend on values",
}
"""Alternatives to operations whose results have shapes that depend on values."""

NUMBERS_OF_TENSORS = {
    "aten._local_scalar_dense": "keep the number in a tensor without dimensions",
    "aten.item": "keep the number in a tensor without dimensions",
    "aten.equal": "use torch.eq and torch.all, which return tensors",
    "aten.allclose": "use torch.isclose and torch.all, which return tensors",
    "aten.is_nonzero": "use torch.where or torch.cond",
}
"""Alternatives to operations that take numbers out of tensors."""

KEEP_DENSE = "keep the tensor dense, with zeros"

OTHERS = {
    "aten.linalg_ldl_factor_ex": "use torch.linalg.lu_factor or torch.linalg.cholesky",
    "aten._to_sparse": KEEP_DENSE,
    "aten.to_sparse": KEEP_DENSE,
    "aten.linalg_ldl_factor": "use torch.linalg.lu_factor or torch.linalg.cholesky",
}
"""Alternatives to other operations."""

_OUTSIDE = "compute it before the model and pass it as an input, or use a polynomial"

COMPUTE_OUTSIDE = (
    "compute it before the model and pass it as an input, or use the operations that the page "
    "'PyTorch operations' of the documentation lists"
)
"""The alternative to operations without an entry here."""

_PLACEMENTS = (
    "give results of local_map placements such as Partial(), and the program communicates by itself"
)

_DEGREE = "give the degree as a number"

OF_FAMILIES = {
    **{
        f"aten.special_{family}": _DEGREE
        for family in ("chebyshev", "hermite", "laguerre", "legendre", "shifted_chebyshev")
    },
    "aten.special_": _OUTSIDE,
    "_c10d_functional.": _PLACEMENTS,
    "aten.segment_reduce": "give lengths or offsets of segments of the first dimension",
}
"""Alternatives to operations whose names begin in the same way."""

_ALL = {**SHAPES_OF_VALUES, **NUMBERS_OF_TENSORS, **OTHERS}


def advice_for(operation: object) -> str | None:
    """Return the alternative to an operation, or None."""
    name = name_of(operation)
    found = _ALL.get(name) or _ALL.get(name.rpartition(".")[0])
    if found is not None:
        return found
    families = (advice for start, advice in OF_FAMILIES.items() if name.startswith(start))
    return next(families, None)


IN_ALL_CASES = "use torch.where, torch.cond or torch.while_loop"
"""The alternative to code that depends on the values of tensors."""

_FUNCTIONS = {
    "float": "keep the number in a tensor without dimensions, converted by Tensor.double",
    "int": "keep the number in a tensor without dimensions, converted by Tensor.long",
    "complex": "keep the number in a tensor without dimensions",
    "max": "use torch.maximum, or torch.amax of a tensor",
    "min": "use torch.minimum, or torch.amin of a tensor",
    "any": "use torch.any of a tensor",
    "all": "use torch.all of a tensor",
    "sorted": "use torch.sort of a tensor",
    "range": "use torch.while_loop, or a number of iterations that is known",
}
"""Alternatives to functions of Python that need the values of tensors."""

_STATEMENTS: dict[type[ast.stmt], str] = {
    ast.Assert: "remove the assertion, or check the values outside of the module",
    ast.For: "use torch.while_loop, or a number of iterations that is known",
    ast.While: "use torch.while_loop",
}
"""Alternatives to statements that need the values of tensors."""


def advice_for_expression(expression: str) -> str:
    """Return the alternative to Python code that needs the value of a tensor."""
    import torch  # noqa: PLC0415

    try:
        (statement,) = ast.parse(expression).body
    except (SyntaxError, ValueError):  # a part of a statement, or several
        return IN_ALL_CASES
    if type(statement) in _STATEMENTS:
        return _STATEMENTS[type(statement)]
    node = statement.value if isinstance(statement, ast.Expr) else None
    function = node.func if isinstance(node, ast.Call) else None
    if isinstance(function, ast.Name):
        return _FUNCTIONS.get(function.id, IN_ALL_CASES)
    if not isinstance(function, ast.Attribute) or ast.unparse(function.value) != "math":
        return IN_ALL_CASES
    has_counterpart = hasattr(torch, function.attr)
    name = f"torch.{function.attr}" if has_counterpart else "functions of torch"
    return f"use {name}, on a tensor without dimensions"
