# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls that act on autograd, which stay calls in the graph of a module that is differentiated.

`torch.export` traces above autograd: its graph has the forward of a `torch.autograd.Function` and
not the backward, and no hooks. Inside `kept_calls`, such a call becomes one operation
`pyshardy::autograd_call`, and `differentiation` makes the call when it differentiates the graph:

| call                                        | in the graph                                   |
|---------------------------------------------|------------------------------------------------|
| `Function.apply`                            | one operation, which has its own backward      |
| `Tensor.register_hook`, `requires_grad_`    | an operation without results                   |
| hooks for the backward of a module          | identities around the operations of the module |
| `torch.autograd.grad`                       | one operation, which returns the gradients     |
| `torch.autograd.graph.saved_tensors_hooks`  | operations without results around the block    |

A function or hook may refer to tensors that `forward` has made. These are further operands of the
operation (`references`), and stand-ins take their place when the call is made.

Calls that reach into autograd in other ways are refused.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

import torch
from torch._C import _FunctionBase
from torch._subclasses.fake_tensor import FakeTensor
from torch.autograd import function as functions
from torch.fx import GraphModule, Node
from torch.fx.experimental.proxy_tensor import disable_proxy_modes_tracing
from torch.fx.node import has_side_effect
from torch.utils import _pytree as pytree
from torch.utils import checkpoint
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.hooks import BackwardHook

from mlir_sdy.diagnostics import UsageError, error
from pyshardy.frontends.torch.dtensors import is_distributed
from pyshardy.frontends.torch.replacing import Replacements, replaced_attribute
from pyshardy.frontends.torch.transforms import DERIVATIVES, kept_transforms

_INLINED = (
    "torch._",
    "torch.distributed.",
    "torch.nn.modules.",
    "torch.utils.checkpoint",
)
"""Modules of PyTorch whose functions for autograd have the derivatives of their forward."""


class NeedsDerivativesError(Exception):
    """A module that isn't exported for differentiation computes derivatives."""


class AutogradCall:
    """A call of a function of trees with tensors.

    Attributes:
        tensors: the tensors in its arguments.
        references: the tensors that the function refers to.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        arguments: tuple[Any, ...],
        example: Callable[..., Any] | None = None,
        references: Sequence[torch.Tensor] = (),
    ) -> None:
        self._function = function
        self._example = function if example is None else example
        leaves, self._tree = pytree.tree_flatten(arguments)
        self._leaves, self.tensors = _without_tensors(leaves)
        self.references = references
        self._results: tuple[list[Any], Any] = [], None

    def run(
        self, operands: Sequence[torch.Tensor], stand_ins: dict[int, torch.Tensor]
    ) -> list[torch.Tensor]:
        """Make the call and return the tensors in its result.

        Args:
            operands: the tensors in its arguments, and those for its references.
            stand_ins: the tensors to use, by the identities of others; the references are added.
        """
        count = len(self.tensors)
        for reference, operand in zip(self.references, operands[count:], strict=True):
            stand_ins[id(reference)] = operand
        return self._tensors_of(self._function, operands[:count])

    def example(self, operands: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """Return tensors of the types of those in the result.

        Raises:
            UsageError: the function changes a tensor in place.
        """
        tensors = operands[: len(self.tensors)]
        versions = [tensor._version for tensor in tensors]
        result = self._tensors_of(self._example, tensors)
        if versions != [tensor._version for tensor in tensors]:
            name = getattr(self._function, "__qualname__", "a function for autograd")
            message = f"'{name}' changes its argument in place, which a trace can't follow"
            raise UsageError(error(f"{message}; return a new tensor instead"))
        return [tensor.detach().clone() for tensor in result]  # an operation returns no views

    def result(self, tensors: Sequence[torch.Tensor]) -> Any:
        """Return the result with given tensors in it."""
        leaves, tree = self._results
        return _filled(leaves, tensors, tree)

    def _tensors_of(
        self, function: Callable[..., Any], tensors: Sequence[torch.Tensor]
    ) -> list[torch.Tensor]:
        result = function(*_filled(self._leaves, tensors, self._tree))
        leaves, tree = pytree.tree_flatten(result)
        others, in_result = _without_tensors(leaves)
        self._results = others, tree
        return in_result


_PLACE = object()
"""Stands for a tensor."""


def _without_tensors(leaves: Sequence[Any]) -> tuple[list[Any], list[torch.Tensor]]:
    others = [_PLACE if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
    return others, [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]


def _filled(leaves: Sequence[Any], tensors: Sequence[torch.Tensor], tree: Any) -> Any:
    remaining = iter(tensors)
    filled = [next(remaining) if leaf is _PLACE else leaf for leaf in leaves]
    return pytree.tree_unflatten(filled, tree)


_CALLS: dict[int, AutogradCall] = {}
"""The calls of graphs that are being traced, by the number that their operation has.

An operation of PyTorch takes no function of Python.
"""

_NUMBERS = itertools.count()
_KEY = "autograd_call"


def attach_calls(module: GraphModule) -> None:
    """Attach the calls to their operations in a graph, inside of `kept_calls`."""
    graphs = [each.graph for each in module.modules() if isinstance(each, torch.fx.GraphModule)]
    for node in (node for graph in graphs for node in graph.nodes):
        if node.op == "call_function" and node.target is _operation():
            node.meta[_KEY] = _CALLS[node.args[0]]


def call_of(node: Node) -> AutogradCall | None:
    """Return the call that an operation stands for, or None."""
    return node.meta.get(_KEY)


@functools.cache
def _operation() -> Any:
    """Register the operation, whose results require a gradient if a tensor does."""
    name = "pyshardy::autograd_call"
    tag = torch.Tag.nondeterministic_seeded  # PyTorch computes other operations on numbers at once
    torch.library.define(name, "(int call, Tensor[] tensors) -> Tensor[]", tags=(tag,))

    def example(call: int, tensors: list[torch.Tensor]) -> list[torch.Tensor]:
        return _CALLS[call].example(tensors)

    def remember(ctx: Any, inputs: Any, output: Any) -> None:  # noqa: ARG001
        ctx.tensors = inputs[1]

    def backward(ctx: Any, *_: Any) -> Any:
        return None, [torch.empty_like(tensor) for tensor in ctx.tensors]  # of the right types

    torch.library.register_fake(name, example)
    torch.library.register_autograd(name, backward, setup_context=remember)
    operation = torch.ops.pyshardy.autograd_call.default
    has_side_effect(operation)
    return operation


def _kept(
    function: Callable[..., Any],
    *arguments: Any,
    example: Callable[..., Any] | None = None,
    referring: Any = (),
) -> Any:
    """Add the operation for a call to the graph, and return the result of the call.

    Args:
        function: the function to call when the graph is differentiated.
        arguments: trees with tensors.
        example: a function of the same arguments whose result has the same type; by default the
            function itself.
        referring: what may refer to tensors of the trace.
    """
    references = _references(referring)
    number, call = next(_NUMBERS), AutogradCall(function, arguments, example, references)
    _CALLS[number] = call
    return call.result(_operation()(number, [*call.tensors, *references]))


def _references(root: Any) -> list[torch.Tensor]:
    """Return the tensors of a trace that functions, objects and containers refer to.

    Parameters and buffers of modules aren't among them; they have stand-ins anyway.
    """
    tensors: list[torch.Tensor] = []
    seen: dict[int, Any] = {}  # keeps what attributes return, so that identities stay distinct
    remaining = [root]
    while remaining and len(seen) < _MOST_OBJECTS:
        value = remaining.pop()
        if id(value) in seen:
            continue
        seen[id(value)] = value
        if isinstance(value, FakeTensor):
            tensors.append(value)
        elif isinstance(value, list | tuple | set):
            remaining += value
        elif isinstance(value, Mapping):
            remaining += value.values()
        elif isinstance(value, types.FunctionType):
            remaining += [each.cell_contents for each in value.__closure__ or () if _is_set(each)]
            remaining += [value.__defaults__, value.__kwdefaults__]
        elif isinstance(value, functools.partial):
            remaining += [value.func, value.args, value.keywords]
        elif isinstance(value, types.MethodType):
            remaining += [value.__self__, value.__func__]
        elif isinstance(value, staticmethod | classmethod):
            remaining.append(value.__func__)
        elif isinstance(value, torch.nn.Module):
            own = ("_parameters", "_buffers")
            remaining += [each for name, each in vars(value).items() if name not in own]
        elif not (type(value).__module__ or "").startswith(("torch", "builtins")):
            remaining += getattr(value, "__dict__", {}).values()
        elif isinstance(value, type) and not value.__module__.startswith("torch"):
            remaining += vars(value).values()
    return tensors


_MOST_OBJECTS = 10_000


def note_exported(result: Any, requires_grad: bool | None = None) -> None:
    """Mark the tensors of a trace, so that they are known when the graph is differentiated.

    Args:
        result: the result of a function.
        requires_grad: whether it is a new tensor that requires a gradient.
    """
    if requires_grad and isinstance(result, FakeTensor):
        _requires_grad(result)
    for leaf in (result,) if isinstance(result, FakeTensor) else pytree.tree_leaves(result):
        if isinstance(leaf, FakeTensor):
            setattr(leaf, _MARK, True)


def is_exported(tensor: torch.Tensor) -> bool:
    """Whether a tensor is one of an export, inside of `kept_calls`."""
    return _MARK in getattr(tensor, "__dict__", {})


_MARK = "_pyshardy_is_exported"


def _is_set(cell: Any) -> bool:
    """Whether a variable of a closure has a value."""
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


@contextlib.contextmanager
def kept_calls() -> Iterator[Replacements]:
    """Keep calls on autograd as operations in the graph that is traced in the `with` block.

    Use `attach_calls` on the graph at the end of the block.

    Yields:
        The functions of PyTorch to replace, which a `TorchFunctionMode` must do.
    """
    before = {*_CALLS}
    block = torch.autograd.graph.saved_tensors_hooks
    setup = BackwardHook.setup_input_hook, BackwardHook.setup_output_hook
    try:
        with contextlib.ExitStack() as stack:
            for owner, name, replacement in (
                (functions._SingleLevelFunction, "apply", classmethod(_apply)),
                *((BackwardHook, each.__name__, _module_hook(each)) for each in setup),
                (block, "__enter__", _saving(block, "__enter__")),
                (block, "__exit__", _saving(block, "__exit__")),
                (torch.autograd.graph, "_get_grad_fn_or_grad_acc", _refuse_hooks_on_functions),
                (checkpoint, "_checkpoint_without_reentrant_generator", _checkpointed),
                (torch.amp.GradScaler, "scale", _scale),
                *kept_transforms(_kept),
            ):
                stack.enter_context(replaced_attribute(owner, name, replacement))
            yield _replacements()
    finally:
        for number in _CALLS.keys() - before:
            del _CALLS[number]


def check_hooks(module: torch.nn.Module) -> None:
    """Check that the hooks of the parameters of a module can be traced.

    Raises:
        UsageError: a parameter has a hook on the accumulated gradient.
    """
    for name, parameter in module.named_parameters():
        hooks = getattr(parameter, "_post_accumulate_grad_hooks", None) or {}
        if any(not is_distributed(hook) for hook in hooks.values()):
            raise UsageError(error(f"the parameter '{name}': {_ACCUMULATION}"))


@contextlib.contextmanager
def without_derivatives() -> Iterator[Replacements]:
    """Raise `NeedsDerivativesError` if a derivative is computed inside the `with` block.

    Yields:
        The functions of PyTorch to replace, as `kept_calls` does.
    """

    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise NeedsDerivativesError

    with contextlib.ExitStack() as stack:
        # The last one is a function for autograd inside of 'vmap'.
        for owner, name in (*DERIVATIVES, (functions, "custom_function_call")):
            stack.enter_context(replaced_attribute(owner, name, refuse))
        yield {torch.autograd.grad: (_is_no_transform, refuse), **_refused()}


def _replacements() -> Replacements:
    tensor: Any = torch.Tensor
    return {
        torch.autograd.grad: (_is_no_transform, _grad),
        tensor.register_hook: (_is_no_transform, _register_hook),
        tensor.requires_grad_: (_is_no_transform, _requires_grad),
        tensor.requires_grad.__set__: (_is_no_transform, _requires_grad),
        tensor.grad_fn.__get__: (_is_no_transform, _grad_fn),
        tensor.register_post_accumulate_grad_hook: (_is_no_transform, _refuse_accumulation),
        **_refused(),
    }


def _refused() -> Replacements:
    return {
        torch.Tensor.backward: (_is_no_transform, _refuse_backward),
        torch.autograd.backward: (_is_no_transform, _refuse_backward),
    }


def _is_no_transform(*_: Any, **__: Any) -> bool:
    """Whether no transform of `torch.func` makes the call; `failures.of_gradients` refuses it."""
    return not torch._C._are_functorch_transforms_active()


def _apply(cls: Any, *args: Any) -> Any:
    """Apply a function for autograd, in the place of `torch.autograd.Function.apply`."""
    if cls is checkpoint.CheckpointFunction:  # of 'use_reentrant': its forward has no autograd
        function, _, *values = args
        # Its results require no gradient if no value does, whatever the function refers to.
        is_needed = any(isinstance(one, torch.Tensor) and one.requires_grad for one in values)
        with torch.set_grad_enabled(is_needed and torch.is_grad_enabled()):
            return function(*values)

    apply = _FunctionBase.__dict__["apply"].__get__(None, cls)
    if cls.__module__.startswith(_INLINED):
        return apply(*args)
    named = functools.update_wrapper(functools.partial(apply), cls, updated=())
    return _kept(named, *args, referring=cls)


def _checkpointed(
    _function: Any, _preserves: bool, contexts: Callable[[], Any], *_: Any, **__: Any
) -> Iterator[None]:
    """Run a checkpoint without hooks that keep tensors; the graph has no recomputation."""
    context, _of_recomputation = contexts()
    # A mode for operations chooses which tensors are kept.
    with contextlib.nullcontext() if isinstance(context, TorchDispatchMode) else context:
        yield


def _scale(self: Any, outputs: Any) -> Any:
    if self.is_enabled():
        message = (
            "'GradScaler' changes its scale by the values of gradients, which a program can't; use "
            "bfloat16, which needs no scale, or multiply the loss by a number, and divide the "
            "gradients by it in 'before_step'"
        )
        raise UsageError(error(message))
    return outputs


def _register_hook(tensor: torch.Tensor, hook: Callable[..., Any]) -> _HookHandle:
    handles: list[Any] = []
    if not tensor.requires_grad:
        message = "a hook is registered on a tensor that doesn't require a gradient"
        raise UsageError(error(f"{message}; check its 'requires_grad' before"))

    def register(given: torch.Tensor) -> None:
        handles.append(given.register_hook(hook))

    _kept(register, tensor, example=_nothing, referring=hook)
    return _HookHandle(handles)


class _HookHandle:
    """The handle of a hook, which removes it when the graph is differentiated."""

    def __init__(self, handles: Sequence[Any]) -> None:
        self._handles = handles

    def remove(self) -> None:
        """Remove the hook."""

        def remove() -> None:
            for handle in self._handles:
                handle.remove()

        _kept(remove, example=_nothing)

    def __enter__(self) -> _HookHandle:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


def _nothing(*_: Any) -> None:
    return None


def _requires_grad(tensor: torch.Tensor, requires_grad: bool = True) -> torch.Tensor:
    def require(given: torch.Tensor) -> None:
        given.requires_grad_(requires_grad)

    require(tensor)
    _kept(require, tensor, example=_nothing)
    return tensor


def _module_hook(original: Callable[..., Any]) -> Callable[..., Any]:
    """Return the method of `BackwardHook` that adds identities around the operations."""

    def setup(self: Any, values: Any) -> Any:
        function = functools.partial(original, self)
        hooks = self.user_hooks, self.user_pre_hooks
        return _kept(function, values, example=_same, referring=hooks)

    return setup


def _same(value: Any) -> Any:
    return value


def _saving(owner: Any, name: str) -> Callable[..., Any]:
    """Return a method that enters or leaves a block with hooks for saved tensors."""
    original = getattr(owner, name)

    def method(self: Any, *args: Any) -> Any:
        if type(self) is not owner:  # checkpoints and offloading keep the numbers
            return original(self, *args)

        def call() -> None:
            original(self, *args)

        return _kept(call, example=_nothing, referring=(self.pack_hook, self.unpack_hook))

    return method


def _grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,  # noqa: ARG001
    create_graph: bool = False,
    only_inputs: bool = True,  # noqa: ARG001
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> Any:
    """Return gradients, in the place of `torch.autograd.grad`."""

    def gradients(outputs: Any, inputs: Any, grad_outputs: Any) -> Any:
        return torch.autograd.grad(
            outputs,
            inputs,
            grad_outputs,
            retain_graph=True,
            create_graph=create_graph,
            allow_unused=allow_unused,
            is_grads_batched=is_grads_batched,
            materialize_grads=materialize_grads,
        )

    with disable_proxy_modes_tracing(), torch._C.DisableTorchFunction():
        examples = gradients(outputs, inputs, grad_outputs)
    result = _kept(gradients, outputs, inputs, grad_outputs, example=lambda *_: examples)
    if create_graph:
        return result
    return pytree.tree_map_only(torch.Tensor, lambda gradient: gradient.detach(), result)


class _GradFn:
    """A function of autograd that takes no hooks."""

    def __init__(self, function: Any) -> None:
        self._function = function

    def __getattr__(self, name: str) -> Any:
        if name in ("register_hook", "register_prehook"):
            _refuse_hooks_on_functions()
        return getattr(self._function, name)


def _grad_fn(tensor: Any, *_: Any) -> Any:
    with torch._C.DisableTorchFunction():
        function = tensor.grad_fn
    return None if function is None else _GradFn(function)


def _refuse_hooks_on_functions(*_: Any) -> NoReturn:
    message = "hooks on functions of autograd ('grad_fn') and on several gradients at once"
    raise UsageError(error(f"{message} can't be traced; use Tensor.register_hook"))


def _refuse_accumulation(*_: Any) -> NoReturn:
    raise UsageError(error(_ACCUMULATION))


_ACCUMULATION = (
    "hooks on accumulated gradients ('register_post_accumulate_grad_hook') can't be traced; use "
    "'before_step', or Tensor.register_hook"
)


def _refuse_backward(*_: Any, **__: Any) -> NoReturn:
    message = "'backward' inside of a module adds to the attributes 'grad', which can't be traced"
    raise UsageError(error(f"{message}; use torch.autograd.grad, which returns the gradients"))
