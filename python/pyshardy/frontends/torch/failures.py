# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors for programs of PyTorch that can't be expressed in StableHLO.

Each names the operation as the user wrote it, and its line.
"""

from __future__ import annotations

import ast
import contextlib
import logging
import operator
import os
import re
from collections.abc import Callable, Container, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from mlir_sdy.diagnostics import Diagnostic, SourceLocation, UsageError, error
from mlir_sdy.dialect import Context
from mlir_sdy.host import context_for_torch, imported_from_torch, ir, tensor_arguments
from pyshardy.frontends.torch.conversion import convert
from pyshardy.frontends.torch.frames import Frame, folder_of_torch, frames_outside
from pyshardy.frontends.torch.registry import name_of, short_name
from pyshardy.frontends.torch.replacing import replaced_attribute

if TYPE_CHECKING:
    from torch.fx import Graph, GraphModule, Node


_REFUSED = re.compile(r"failed to legalize operation '(?P<operation>torch\.[\w.]+)'")
_RETURNED = re.compile(r"Found <class '(?P<type>[^']+)'> in output")
_GIVEN = re.compile(r"Unsupported input type <class '(?P<type>[^']+)'>")
_FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+)')


def of_data_dependence(module: GraphModule, known: Container[str] = ()) -> Diagnostic | None:
    """Return the error for the first tensor whose shape depends on the values of tensors.

    Args:
        module: the graph.
        known: symbols that depend on the shapes of inputs.
    """
    for node in module.graph.nodes:
        if all(symbol in known for value in _values(node) for symbol in _symbols_of(value)):
            continue
        if node.op == "placeholder":  # of a training step, or of the graph of another operation
            message = f"the input '{node.name}' has dynamic dimensions; export without them"
            return error(message, _place(node))
        if node.op == "call_function":
            return error(_data_dependence(node.target), _place(node))
    return None


def at_sizes(node: Node, failure: Exception, told: str) -> Diagnostic:
    """Return the error for an operation that PyTorch refuses at sizes in their ranges."""
    message = f"'{short_name(node.target)}' fails at sizes of the program: {reason_of(failure)}"
    return error(f"{message}; it was tried at {told}", _place(node))


def of_cases(node: Node, size: str) -> Diagnostic:
    """Return the error for a size that is a minimum or a maximum."""
    message = f"'{short_name(node.target)}' has the size {size}, which has two cases; give the"
    advice = "dimension a range with one of them: Dim('b', min=..., max=...)"
    return error(f"{message} {advice}", _place(node))


def of_number(node: Node) -> Diagnostic:
    """Return the error for an operation that needs a number that is taken out of a tensor."""
    name = short_name(node.target)
    message = (
        f"'{name}' needs a number, which StableHLO cannot take out of a tensor; use an operation "
        "that takes a tensor in its place, such as torch.where or arithmetic"
    )
    return error(message, _place(node))


def _data_dependence(operation: Any) -> str:
    name = short_name(operation)
    takes_number = any(name_of(operation).startswith(each) for each in NUMBERS_OF_TENSORS)
    problem = (
        "takes a number out of a tensor"
        if takes_number
        else "has a result whose shape depends on the values of tensors"
    )
    advice = advice_for(operation) or "give it sizes that don't depend on the values of tensors"
    return f"'{name}' {problem}, which StableHLO cannot express; {advice}"


def _values(node: Node) -> Iterable[Any]:
    from torch.utils import _pytree as pytree  # noqa: PLC0415

    return pytree.tree_leaves(node.meta.get("val"))


def _symbols_of(value: Any) -> Iterator[str]:
    """Yield the symbols in the shape of a tensor."""
    import torch  # noqa: PLC0415

    for size in value.shape if isinstance(value, torch.Tensor) else ():
        if isinstance(size, torch.SymInt):
            yield from map(str, size.node.expr.free_symbols)


def of_importer(
    graphs: Iterable[Graph], is_call: Callable[[Node], bool], failure: Exception
) -> Diagnostic:
    """Return the error for an operation that the importer doesn't support.

    The importer reports operations of its intermediate form, often without a location. So each
    operation is imported alone, up to the first one that fails.

    Args:
        graphs: the graphs that it was to import.
        is_call: see `imported_from_torch`.
        failure: its failure.
    """
    seen: set[str] = set()
    for node in (node for graph in graphs for node in graph.nodes if node.op == "call_function"):
        key = f"{node.target} {[str(value) for one in _inputs(node) for value in _values(one)]}"
        if key in seen or node.target is operator.getitem:
            continue
        seen.add(key)
        try:
            alone = imported_from_torch({"main": _alone(node)}, is_call, context_for_torch())
            ir.Module.parse(convert(alone.bytecode), Context())
        except Exception as refusal:  # the importer has no class for it
            return _refusal(node, refusal)
    return error(f"cannot import the PyTorch program: {_reason(failure)}")


def of_usage(node: Node, failure: UsageError) -> Diagnostic:
    """Return an error at the place of an operation."""
    return error(failure.diagnostics[0].message, _place(node))


def of_operation(node: Node, reason: str) -> Diagnostic:
    """Return the error for an operation that can't be converted."""
    origin = node.meta.get("origin", node.target)
    name = short_name(origin)
    message = f"cannot convert '{name}' of PyTorch to StableHLO"
    details = [] if origin is node.target else [f"it is composed of '{short_name(node.target)}'"]
    if reason:
        details.append(reason)
    if details:
        message += f" ({'; '.join(details)})"
    advice = advice_for(origin) or COMPUTE_OUTSIDE
    return error(f"{message}; {advice}", _place(node))


def of_export(failure: Exception, frame: Frame | None, result: SourceLocation | None) -> Diagnostic:
    """Return the error for a module that PyTorch can't export as one graph.

    Args:
        failure: the failure of `torch.export`.
        frame: its place in the user's source, if it has one.
        result: the place where the module returns its result, if it is known.
    """
    kind = type(failure).__name__
    place = frame and frame.place
    if isinstance(failure, UsageError):  # of a function that replaces one of PyTorch
        return error(failure.diagnostics[0].message, place or result)
    if (operation := getattr(failure, "func", None)) is not None and "Output" in kind:
        return error(_data_dependence(operation), place)
    if is_data_dependence(failure):
        return error(_dependence_of_code(frame and frame.expression), place)
    if returned := _RETURNED.match(str(failure)):
        message = (
            f"the module returns a value of the type '{returned['type']}'; return tensors, numbers "
            "and strings, in tuples, lists or dictionaries"
        )
        return error(message, place or result)
    if given := _GIVEN.match(str(failure)):
        message = (
            f"an input has the type '{given['type']}'; give tensors, numbers and strings, in "
            "tuples, lists or dictionaries, and make others attributes of the module"
        )
        return error(message)
    if "mutating a non-functional tensor" in str(failure):
        what = f"'{frame.expression}'" if frame and frame.expression else "the code"
        message = (
            f"{what} changes a tensor that the program doesn't have as an argument; register it as "
            "a buffer of the model, or change it outside of the program"
        )
        return error(message, place)
    if "Constraints violated" in str(failure):
        return error(_violated(str(failure)), place)
    subject = f"'{frame.expression}' of the module" if frame and frame.expression else "the module"
    if frame is not None and isinstance(failure, _OF_PYTHON):
        return error(_failure_of_python(failure, subject), place)
    reason = reason_of(failure)
    message = f"'torch.export' cannot trace {subject} ({kind}): {reason}"
    if "numpy" in message.lower():
        message = f"{message.rstrip('.')}; use functions of torch instead of those of NumPy"
    return error(message, place)


def _violated(explanation: str) -> str:
    """Return what PyTorch says of dimensions that aren't as `dynamic_shapes` has them."""
    lines = [line.strip() for line in explanation.splitlines()]
    reasons = [line.removeprefix("- ") for line in lines if line.startswith("- ")]
    fixes = [line for line in lines if re.match(r"\w+ = ", line)]
    advice = f"use {', '.join(fixes)}" if fixes else "leave out the dimensions that are fixed"
    return f"the module doesn't take all sizes of 'dynamic_shapes': {'; '.join(reasons)}; {advice}"


_OF_PYTHON = (LookupError, NameError, AttributeError, ArithmeticError, ImportError)
"""The failures of code that isn't an operation of PyTorch."""


def _failure_of_python(failure: Exception, subject: str) -> str:
    kind = type(failure).__name__
    reason = " ".join(str(failure).split()).replace("'FakeTensor'", "'Tensor'")
    if isinstance(failure, KeyError):
        reason = f"there is no key {reason}"
    return (
        f"{subject} fails ({kind}): {reason}; call the module with these "
        "inputs to see whether it also fails without tracing"
    )


def is_data_dependence(failure: BaseException) -> bool:
    """Whether code needs the value of a tensor, which `torch.export` doesn't know."""
    return type(failure).__name__.startswith(_DATA_DEPENDENCES)


_DATA_DEPENDENCES = (
    "DataDependentOutput",
    "GuardOnDataDependent",
    "NeedsValue",
    "PendingUnbackedSymbol",
)


def reason_of(failure: BaseException) -> str:
    """Return why PyTorch fails, without what it advises its own developers."""
    if is_data_dependence(failure):
        return "it needs the values of tensors"
    if "found a fake tensor" in str(failure):
        return "a tensor goes through code that PyTorch doesn't trace"
    first, *_ = [*filter(None, map(str.strip, str(failure).splitlines())), type(failure).__name__]
    sentences = re.split(r"(?<=[.!?])\s+", first)
    return " ".join(each for each in sentences if not _FOR_DEVELOPERS.search(each)) or first


_FOR_DEVELOPERS = re.compile(r"file an issue|report|TORCH_LOGS|torch\._|https?://|internal", re.I)


def _ignored(*_: Any, **__: Any) -> None:
    """Take the place of a function that prints."""


@contextlib.contextmanager
def without_logs() -> Iterator[None]:
    """Keep PyTorch from printing graphs and failures inside the `with` block.

    They become errors, unless the user asks PyTorch for logs.
    """
    if "TORCH_LOGS" in os.environ:
        yield
        return
    import torch.export._trace  # noqa: PLC0415

    names = [name for name in logging.root.manager.loggerDict if f"{name}.".startswith("torch.")]
    loggers = [each for each in map(logging.getLogger, names) if not each.disabled]
    for logger in loggers:
        logger.disabled = True
    try:
        with replaced_attribute(torch.export._trace, "print", _ignored):
            yield
    finally:
        for logger in loggers:
            logger.disabled = False


def _dependence_of_code(expression: str | None) -> str:
    if expression is None:
        return (
            "the code of the module depends on the values of tensors, by 'if', 'while', bool(), "
            f"int(), float(), functions of 'math' or a dynamic shape; {IN_ALL_CASES}"
        )
    return (
        f"'{expression}' needs the values of tensors, which are unknown while a module is traced; "
        f"{advice_for_expression(expression)}"
    )


def of_tensors(module: GraphModule) -> Diagnostic | None:
    """Return the error for the first tensor that isn't dense, or whose type MLIR lacks."""
    import torch  # noqa: PLC0415

    for node in module.graph.nodes:
        for value in _values(node):
            if not isinstance(value, torch.Tensor):
                continue
            if value.layout is not torch.strided:
                what, advice = "a sparse tensor", KEEP_DENSE
            elif value.dtype is torch.complex32:
                what, advice = "a tensor of complex32", "convert it to complex64"
            elif str(value.dtype).removeprefix("torch.").startswith(_WITHOUT_CONVERSION):
                what = f"a tensor of {str(value.dtype).removeprefix('torch.')}"
                advice = "PyTorch's importer takes no such type, so convert it before the module"
            else:
                continue
            subject = (
                f"the input '{node.name}' is"
                if node.op == "placeholder"
                else f"'{short_name(node.target)}' has a result that is"
            )
            message = f"{subject} {what}, which StableHLO cannot express; {advice}"
            return error(message, _place(node))
    return None


def of_gradients(module: GraphModule) -> Diagnostic | None:
    """Return the error for the first derivative of which PyTorch has exported parts only."""
    for node in module.graph.nodes:
        if name_of(node.target) in ("_unwrap_for_grad", "_make_dual"):
            message = (
                "the derivatives of 'torch.autograd.forward_ad', and of exported programs, are not "
                "in the graph of PyTorch; trace a module that uses torch.func.jvp"
            )
            return error(message, _place(node))
    return None


_WITHOUT_CONVERSION = "uint16", "uint64", "int4", "float4", "bits", "uint1", "uint2", "uint4"


def _refusal(node: Node, failure: Exception) -> Diagnostic:
    reason = _reason(failure)
    if _REFUSED.search(reason) or "torch." in reason or "chlo" in reason:
        reason = ""  # in terms of the importer's intermediate form
    return of_operation(node, reason)


def _reason(failure: Exception) -> str:
    return " ".join(str(failure).split()) or type(failure).__name__


def _inputs(node: Node) -> Iterator[Node]:
    yield from tensor_arguments(node)


def _alone(node: Node) -> Graph:
    """Return a graph with one operation, whose inputs are placeholders."""
    from torch.fx import Graph  # noqa: PLC0415

    graph = Graph()
    values: dict[Node, Node] = {}
    for one in _inputs(node):
        if one not in values:
            values[one] = graph.placeholder(f"input_{len(values)}")
            values[one].meta.update(one.meta)
    result = graph.node_copy(node, values.__getitem__)
    results = node.meta.get("val")
    if not isinstance(results, tuple | list):
        graph.output((result,))
        return graph
    parts: list[Node] = []
    for index, value in enumerate(results):
        if value is not None:
            part = graph.call_function(operator.getitem, (result, index))
            part.meta["val"] = value
            parts.append(part)
    graph.output(tuple(parts))
    return graph


def _place(node: Node) -> SourceLocation | None:
    """Return the innermost frame of an operation in the user's source."""
    trace = frames_outside(node.meta.get("stack_trace") or "", folder_of_torch())
    frames = _FRAME.findall(trace)
    return SourceLocation(frames[-1][0], int(frames[-1][1]), 0) if frames else None


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
    own = _ALL.get(name) or _ALL.get(name.rpartition(".")[0])
    if own is not None:
        return own
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
        is_loop = expression.startswith("for ")
        (statement,) = ast.parse(f"{expression}: pass" if is_loop else expression).body
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
