# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tracing of PyTorch modules, whose weights become arguments."""

from __future__ import annotations

import contextlib
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import torch
from torch._export.passes import replace_set_grad_with_hop_pass as blocks
from torch._functorch import eager_transforms
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.export import ExportedProgram
from torch.masked import is_masked_tensor
from torch.nn.modules import transformer
from torch.nn.modules.batchnorm import _BatchNorm
from torch.utils import _pytree as pytree

from mlir_sdy.diagnostics import PassError, UsageError, emit, error, remark
from mlir_sdy.dialect import Context
from mlir_sdy.host import ir
from mlir_sdy.model import Mesh
from mlir_sdy.stages import stage
from mlir_sdy.values import rank_of, set_argument_shardings, set_result_attributes
from mlir_sdy.verify import verify
from pyshardy.forms import ShardingSpec
from pyshardy.frontends.meshes import declare_meshes_of_arguments, match
from pyshardy.frontends.torch import failures
from pyshardy.frontends.torch.assignments import (
    autocast_of_caller,
    followed_assignments,
    inference_without_gradients,
    without_autocast,
)
from pyshardy.frontends.torch.autograd_calls import (
    NeedsDerivativesError,
    attach_calls,
    kept_calls,
    note_exported,
    without_derivatives,
)
from pyshardy.frontends.torch.conversion import start_conversion
from pyshardy.frontends.torch.differentiation import with_derivatives
from pyshardy.frontends.torch.dtensors import (
    Layouts,
    as_global,
    empty_on,
    replaced_weights,
    warn_of_own_strategies,
    weights_of,
)
from pyshardy.frontends.torch.dynamic_sizes import DynamicSizes
from pyshardy.frontends.torch.fragments import light_graphs
from pyshardy.frontends.torch.frames import (
    OWN_FOLDER,
    folders_of_torch,
    frame_of,
    light_stacks,
    place_of_result,
)
from pyshardy.frontends.torch.importing import import_graph
from pyshardy.frontends.torch.local_maps import kept_local_maps
from pyshardy.frontends.torch.mutations import without_mutations
from pyshardy.frontends.torch.objects import as_trees, objects_inside
from pyshardy.frontends.torch.replacing import replaced_attribute
from pyshardy.frontends.torch.signature import Signature, signature_of
from pyshardy.frontends.torch.static_shapes import static_functions
from pyshardy.frontends.torch.traced import TracedModule
from pyshardy.pipeline.collection import collection_paused


@collection_paused()
@torch.inference_mode(False)  # where 'torch.export' fails; this also enables gradients
def trace(
    module: torch.nn.Module | ExportedProgram,
    *args: Any,
    shardings: Mapping[str, ShardingSpec] | None = None,
    mesh: Mesh | None = None,
    kwargs: Mapping[str, Any] | None = None,
    context: ir.Context | None = None,
    dynamic_shapes: Any = None,
) -> TracedModule:
    """Trace a PyTorch module for inputs of the given types.

        traced = sdy.torch.trace(model, tokens, mesh=sdy.Mesh.of({"data": 2, "model": 4}),
                                 shardings={"*.weight": ("model", None), "tokens": ("data", None)})

    The arguments are the parameters and buffers, named by their paths, the constants in the code,
    and the inputs, named as in `forward`; an input with the name of another argument gets `input.`
    in front: `input.mask` beside a buffer `mask`. Operations are located in the user's source. A
    module in training mode is traced in training mode; call `module.eval()` first to avoid this.

    Args:
        module: the module, or the result of `torch.export.export`.
        args: the positional inputs.
        shardings: the shardings of arguments by `fnmatch` patterns of their names; the first match
            counts. A sharding is a `TensorSharding`, or a tuple with an axis of the mesh, a tuple
            of axes or None for each dimension. Arguments without a match have the sharding of
            their placements if they are DTensors, else they are open.
        mesh: the mesh of the shardings; by default that of the DTensors.
        kwargs: the keyword inputs.
        context: a context with the dialect; a new one by default.
        dynamic_shapes: the dimensions of inputs that are symbols, as `torch.export.export` takes
            them: `{"tokens": {0: torch.export.Dim("b")}}`; see docs/guide/dynamic_shapes.md.

    Raises:
        UsageError: PyTorch is missing or can't export the module; a pattern matches no name, or the
            rank of its sharding differs; there is no mesh.
        PassError: the module has an operation that can't be expressed in StableHLO.
        VerificationError: a sharding is invalid on the mesh.
    """
    start_conversion()
    check_inputs(args, kwargs)
    given: tuple[Any, Any] = as_trees((args, dict(kwargs or {})))
    layouts = Layouts.of(module, given, mesh)
    with kept_local_maps(layouts):
        program, signature, imported = _imported(module, *given, context, dynamic_shapes)
    signature = layouts.with_dtensors(signature)
    names = signature.arguments
    entry = ir.SymbolTable(imported.operation)["main"].operation
    name_values(entry, names, signature.results)
    values = entry.regions[0].blocks[0].arguments
    ranks = {name: rank_of(value.type) for name, value in zip(names, values, strict=True)}
    matched = match(shardings or {}, ranks)
    matched |= layouts.shardings(signature, except_for=matched)
    declare_meshes_of_arguments(imported, matched, layouts.mesh or mesh)
    if matched:
        by_index = {names.index(name): sharding for name, sharding in matched.items()}
        set_argument_shardings(entry, by_index)
        verify(imported)
    tree = program.call_spec
    return TracedModule(imported, signature, tree.in_spec, tree.out_spec)


def check_inputs(args: tuple[Any, ...], kwargs: Any) -> None:
    """Check that inputs are values that a program can have.

    Raises:
        UsageError: keyword inputs aren't a mapping; an input is a module, or a tensor of a kind
            without conversion, such as a nested one.
    """
    if kwargs is not None and not isinstance(kwargs, Mapping):
        got = type(kwargs).__name__
        raise UsageError(error(f"'kwargs' must have inputs by their names, got: {got}"))
    for leaf in pytree.tree_leaves((args, kwargs)):
        if isinstance(leaf, torch.nn.Module):
            message = f"an input is a module, '{type(leaf).__name__}'"
            raise UsageError(error(f"{message}; make it an attribute of the traced module"))
        _check_kind(leaf, "an input")


def _check_kind(value: Any, subject: str) -> None:
    for kind, (is_of_kind, way) in _KINDS.items() if isinstance(value, torch.Tensor) else ():
        if is_of_kind(value):
            message = f"{subject} is a {kind} tensor, which has no conversion; {way}"
            raise UsageError(error(message))


_KINDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "nested": (lambda tensor: tensor.is_nested, "pad it"),
    "quantized": (lambda tensor: tensor.is_quantized, "dequantize it"),
    "masked": (is_masked_tensor, "pass its data and its mask"),
    "oneDNN": (lambda tensor: tensor.is_mkldnn, "call its 'to_dense'"),
}
"""Kinds of tensors that have no conversion, how to tell them, and what to do."""


def _imported(
    module: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    context: ir.Context | None,
    dynamic_shapes: Any,
) -> tuple[ExportedProgram, Signature, ir.Module]:
    """Return a module as an exported program, its signature, and the program in StableHLO."""
    weights = None
    try:
        program = exported(module, args, kwargs, dynamic_shapes=dynamic_shapes)
    except NeedsDerivativesError:
        weights = dict(weights_of(module))
        program = exported(
            module, args, kwargs, is_differentiated=True, dynamic_shapes=dynamic_shapes
        )
    sizes = DynamicSizes.of(program, module, (args, kwargs), dynamic_shapes)
    signatures: list[Signature] = []

    def convert(program: ExportedProgram) -> ir.Module:
        if weights is None:
            program, graph = without_mutations(program)
            signatures.append(signature_of(program))
        else:
            with failures_of_user(module):
                signature, graph = with_derivatives(program, weights)
            signatures.append(signature)
        return import_graph(graph, context)

    with without_autocast():
        if sizes.symbols:
            context = context or Context()
            imported = sizes.program(convert, program)
        else:
            imported = convert(program)
    return program, signatures[0], imported


def exported(
    module: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    *,
    is_differentiated: bool = False,
    dynamic_shapes: Any = None,
) -> ExportedProgram:
    """Return a module as PyTorch exports it for inputs, or an exported program as it is.

    Args:
        module: the module, or the exported program.
        args: the positional inputs.
        kwargs: the keyword inputs.
        is_differentiated: whether calls that act on autograd stay calls in the graph, for
            `differentiation`.
        dynamic_shapes: the dimensions of inputs that are symbols.

    Raises:
        NeedsDerivativesError: the module computes derivatives, and calls don't stay calls.
        UsageError: PyTorch can't export it.
        PassError: a tensor is sparse or of complex32, or the module computes gradients.
    """
    if isinstance(module, torch.export.ExportedProgram):
        if args or kwargs or dynamic_shapes:
            given = "inputs" if args or kwargs else "dynamic shapes"
            raise UsageError(error(f"an exported program already contains its {given}"))
        program = module
    else:
        program = _export(module, args, kwargs, dynamic_shapes, is_differentiated=is_differentiated)
    for find in (failures.of_tensors, failures.of_gradients):
        if (refusal := find(program.graph_module)) is not None:
            raise PassError(refusal)
    warn_of_own_strategies(program.graph_module)
    return program


def _export(
    module: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    dynamic_shapes: Any,
    *,
    is_differentiated: bool,
) -> ExportedProgram:
    from torch._dynamo.trace_rules import get_torch_obj_rule_map  # noqa: PLC0415 (takes a second)

    check_module(module)
    get_torch_obj_rule_map()  # PyTorch keeps rules by functions, so before any is replaced
    calls = kept_calls() if is_differentiated else without_derivatives()
    with (
        failures_of_user(module),
        stage("exporting the module by PyTorch"),
        # Before any function wraps the 'forward' of the module.
        replaced_attribute(_BatchNorm, "forward", _cumulative(_BatchNorm.forward)),
        as_global(module, (args, kwargs)) as given,
        weights_on_cpu(module, _with_distinct_tensors(given)) as inputs,
        calls as replaced,
        inference_without_gradients(),
        followed_assignments(module, is_differentiated=is_differentiated),
        autocast_of_caller(module),
        objects_inside(module),
        static_functions(module, replaced, note_exported if is_differentiated else None) as caller,
        dense_flex_attention(),
        replaced_attribute(torch, "instance_norm", _instance_norm),
        replaced_attribute(transformer, "_detect_is_causal_mask", _is_told_causal),
        replaced_attribute(blocks, "_is_set_grad_enabled_sub_mod", _sets_gradients),
        replaced_attribute(torch._VF, "_pack_padded_sequence", _refuse_packing),
        replaced_attribute(eager_transforms, "lazy_dynamo_disallow", _refuse_linearizing),
        replaced_attribute(torch.Tensor, "fill_diagonal_", _fill_diagonal),
        light_stacks(caller),
        light_graphs(),
    ):
        program = torch.export.export(module, *inputs, strict=False, dynamic_shapes=dynamic_shapes)
        if is_differentiated:
            attach_calls(program.graph_module)
        return program


def check_module(module: Any) -> None:
    """Check that a value is a module whose code can be traced.

    Raises:
        UsageError: it is something else, or a module of TorchScript; a parameter or buffer is a
            tensor of a kind without conversion.
    """
    got = type(module).__name__
    if isinstance(module, torch.jit.ScriptModule):
        message = f"'{got}' of TorchScript has no code to trace; give the module it was made from"
        raise UsageError(error(message))
    if not isinstance(module, torch.nn.Module):
        raise UsageError(error(f"expected a torch.nn.Module, got: {got}"))
    for name, tensor in weights_of(module):
        _check_kind(tensor, f"'{name}' of the module")


@contextlib.contextmanager
def failures_of_user(module: torch.nn.Module) -> Iterator[None]:
    """Turn exceptions of PyTorch in the `with` block into errors at the line of the module."""
    try:
        with failures.without_logs():
            yield
    except NeedsDerivativesError:
        raise
    except Exception as refusal:  # PyTorch has dozens of classes for it
        folders = *folders_of_torch(), OWN_FOLDER, str(Path(traceback.__file__).parent)
        result = place_of_result(module.forward, folders)
        diagnostic = failures.of_export(refusal, frame_of(refusal, folders), result)
        raise UsageError(diagnostic) from refusal


def _with_distinct_tensors(inputs: Any) -> Any:
    """Replace repeated tensors in a tree by views; PyTorch takes all for the last one."""
    seen: set[int] = set()

    def distinct(leaf: Any) -> Any:
        if isinstance(leaf, torch.Tensor) and id(leaf) in seen:
            return leaf.detach().requires_grad_(leaf.requires_grad)
        seen.add(id(leaf))
        return leaf

    return pytree.tree_map(distinct, inputs)


def name_values(entry: ir.Operation, arguments: Sequence[str], results: Sequence[str]) -> None:
    """Name the arguments and results of a function."""
    context = entry.context
    for value, name in zip(entry.regions[0].blocks[0].arguments, arguments, strict=True):
        value.set_location(ir.Location.name(name, value.location, context))
    named = {index: ir.StringAttr.get(name, context) for index, name in enumerate(results)}
    set_result_attributes(entry, "jax.result_info", named)


@contextlib.contextmanager
def weights_on_cpu(module: torch.nn.Module, inputs: Any) -> Iterator[Any]:
    """Give weights on the device `meta` a CPU as their device, for export, and yield the inputs.

    PyTorch refuses operations on tensors of several devices, such as `meta` and that of a tensor
    that the code makes. The tensors stay without values.

    Args:
        module: the module, which has its own weights again after the `with` block.
        inputs: a tree with its inputs.
    """
    tensors = [value for _, value in weights_of(module)]
    tensors += [leaf for leaf in pytree.tree_leaves(inputs) if isinstance(leaf, torch.Tensor)]
    if not any(map(_is_on_meta, tensors)):
        yield inputs
        return
    mode = FakeTensorMode(allow_non_fake_inputs=True)

    def on_cpu(tensor: Any) -> torch.Tensor:
        if not _is_on_meta(tensor):
            return mode.from_tensor(tensor)
        with mode:
            return empty_on("cpu", tensor)

    with replaced_weights(module, inputs, on_cpu) as replaced:
        yield replaced


def _is_on_meta(tensor: torch.Tensor) -> bool:
    return tensor.device.type == "meta" and not isinstance(tensor, FakeTensor)


def _instance_norm(
    input: torch.Tensor,
    weight: torch.Tensor | None,
    bias: torch.Tensor | None,
    running_mean: torch.Tensor | None,
    running_var: torch.Tensor | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> torch.Tensor:
    """Normalize, and update the statistics by operations, which `torch.export` sees."""
    if use_input_stats and running_mean is not None and running_var is not None:
        found = torch.var_mean(input.detach(), [*range(2, input.dim())])
        for running, new in zip((running_var, running_mean), found, strict=True):
            running.lerp_(new.mean(0).to(running.dtype), momentum)
        running_mean = running_var = None
    statistics = weight, bias, running_mean, running_var
    return torch.ops.aten.instance_norm(
        input, *statistics, use_input_stats, momentum, eps, cudnn_enabled
    )


def _cumulative(forward: Callable[..., Any]) -> Callable[..., Any]:
    """Return a normalization that also averages over all batches, for `momentum=None`."""

    def normalize(self: Any, input: torch.Tensor) -> torch.Tensor:
        is_cumulative = self.training and self.track_running_stats and self.momentum is None
        if not is_cumulative or self.num_batches_tracked is None:
            return forward(self, input)
        averages = {name: self._buffers[name] for name in ("running_mean", "running_var")}
        self._buffers.update({name: each.clone() for name, each in averages.items()})
        with replaced_attribute(self, "momentum", 1.0):
            result = forward(self, input)
        for name, average in averages.items():  # which autograd doesn't need any more
            average.add_((self._buffers[name] - average) / self.num_batches_tracked)
        self._buffers.update(averages)
        return result

    return normalize


def _sets_gradients(node: Any, omit_if_same_with_ambient: bool = False) -> bool:
    """Whether a part of a graph is in a block such as `torch.no_grad`.

    PyTorch looks at the first operation only, which in a block of `torch.autocast` is its entry.
    """
    if node.op != "call_module":
        return False
    nodes = node.graph.owning_module.get_submodule(node.target).graph.nodes
    modes = [each.args[0] for each in nodes if each.target is torch._C._set_grad_enabled]
    return bool(modes) and (not omit_if_same_with_ambient or modes[0] != torch.is_grad_enabled())


def _is_told_causal(_mask: Any, is_causal: bool | None = None, _size: int | None = None) -> bool:
    """Whether the caller says that a mask is causal; its numbers aren't known, and used anyway."""
    return bool(is_causal)


def _refuse_packing(*_: Any) -> NoReturn:
    message = "packed sequences have no conversion; give layers padded ones, and mask their results"
    raise UsageError(error(message))


def _refuse_linearizing(*_: Any) -> NoReturn:
    message = "torch.func.linearize has no conversion; call torch.func.jvp for each tangent"
    raise UsageError(error(message))


def _fill_diagonal(self: torch.Tensor, fill_value: float, wrap: bool = False) -> torch.Tensor:
    """Fill the diagonal by an operation that PyTorch can replace by a function."""
    first, *others = torch.meshgrid(*map(torch.arange, self.shape), indexing="ij")
    first = first % (self.shape[1] + 1) if wrap and self.dim() == 2 else first
    return self.masked_fill_(torch.stack([each == first for each in others]).all(0), fill_value)


_MODULE = "torch.nn.attention.flex_attention"


@contextlib.contextmanager
def dense_flex_attention() -> Iterator[None]:
    """Compute `flex_attention` by its definition inside the `with` block.

    That is all scores, modified and masked by the user's functions; the structure of a `BlockMask`
    only says which blocks a kernel may leave out.
    """
    module: Any = sys.modules.get(_MODULE)  # a user of the function has imported it
    if not hasattr(module, "_FLEX_ATTENTION_DISABLE_COMPILE_DEBUG"):  # before PyTorch 2.8
        yield
        return
    from torch._higher_order_ops.flex_attention import math_attention  # noqa: PLC0415

    def dense(*args: Any, **kwargs: Any) -> Any:
        emit(remark("'flex_attention' is traced as its dense meaning, with all scores in memory"))
        return math_attention(*args, **kwargs)

    with contextlib.ExitStack() as stack:
        for name, value in (
            ("flex_attention_hop", dense),
            ("_FLEX_ATTENTION_DISABLE_COMPILE_DEBUG", True),
            ("_validate_device", _accept),  # kernels for CPUs have no backward
            ("_vmap_for_bhqkv", _as_operations(module._vmap_for_bhqkv)),
        ):
            stack.enter_context(replaced_attribute(module, name, value))
        yield


def _accept(*_: Any) -> None:
    """Accept all devices."""


def _as_operations(vmapped: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that leaves operations on whole tensors in the place of `torch.vmap`.

    `torch.export` keeps nested calls of `torch.vmap`, but not the tensors that they make.
    """
    from torch.fx.experimental.proxy_tensor import (  # noqa: PLC0415
        _temp_remove_pre_dispatch_torch_function_mode,
        disable_proxy_modes_tracing,
        make_fx,
    )

    def with_operations(*args: Any, **kwargs: Any) -> Callable[..., Any]:
        function = vmapped(*args, **kwargs)

        def run(*tensors: Any) -> Any:
            with disable_proxy_modes_tracing(), _temp_remove_pre_dispatch_torch_function_mode():
                graph = make_fx(function)(*tensors)
            return graph(*tensors)

        return run

    return with_operations
