# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tactics of the package.

The formulas count collectives of a training step without loops, forward and backward, with
`sdy.partition` and its default options.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.values import set_argument_shardings
from pyshardy.auto.search.options import SearchOptions, cost_model
from pyshardy.auto.search.program_search import Search
from pyshardy.cost.default_hardware import DEFAULT_HARDWARE
from pyshardy.cost.hardware import report_hardware_of
from pyshardy.irtools.functions import main_function
from pyshardy.irtools.modules import copy_of
from pyshardy.irtools.named_values import matches
from pyshardy.schedules.tactics import Assignment, SeparateReshards, tactic
from pyshardy.schedules.view import TacticProgram, TacticValue


@tactic
def manual(
    program: TacticProgram, dims: Mapping[str, int | Literal["replicated"] | None], *, axis: str
) -> Iterator[Assignment]:
    """Shard values by name.

        sdy.manual({"batch": 0, "*.up.w": 1, "*.norm": None}, axis="data")

    Args:
        program: the program.
        dims: for each pattern of names of arguments or results a dimension, negative from the end;
            or None, in files "replicated", to keep the values replicated along the axis. Other
            words are those of `sdy.values`: `%hidden`, `model.py:40`; or `sharding_group 7`, for
            the members of a group. The first match counts.
        axis: the axis.
    """
    program.size_of(axis)
    done: set[str] = set()
    for pattern, given in dims.items():
        dim = _checked(given)
        for value in _values_or_word(program, pattern):
            name = value if isinstance(value, str) else value.name
            if name not in done:
                yield Assignment(name, dim if isinstance(value, str) else _dim(value, dim), axis)
            done.add(name)


@tactic
def batch(
    program: TacticProgram, inputs: str | Sequence[str], *, axis: str, dim: int = 0
) -> Iterator[Assignment]:
    """Shard the batch dimension of inputs: data parallelism.

    Communication: with p trained parameters and a loss of the mean over the batch, p + 1
    all-reduces along the axis: one for each gradient, and one for the loss. Each device sends
    2 (n - 1) / n times the bytes of the parameters. If other axes are idle, the partitioner divides
    the gradients among them, and gathers them afterwards, to send less.

    Args:
        program: the program.
        inputs: patterns of the names of arguments.
        axis: the axis, of size n.
        dim: the batch dimension.
    """
    program.size_of(axis)
    for value in program.arguments_of(inputs):
        yield Assignment(value.name, _dim(value, dim), axis)


@tactic
def megatron(
    program: TacticProgram, first: str | Sequence[str], *, axis: str
) -> Iterator[Assignment]:
    """Shard the columns of the first weight of each block: tensor parallelism as in Megatron-LM.

    The dimension is that which the first matrix product of the weight keeps. Propagation carries it
    through the block to the rows of the second weight, whose product is completed by an all-reduce.

    Communication: 2 all-reduces of the activations for each block, such as attention or an MLP: one
    in the forward pass after the second weight, and one in the backward pass before the first. Each
    layer of a decoder, of two blocks, has 4. If the input of the first layer needs no gradient, it
    has 3.

    Args:
        program: the program.
        first: patterns of the names of the first weights: `("*.query", "*.key", "*.up")`.
        axis: the axis.
    """
    program.size_of(axis)
    for value in program.arguments_of(first):
        if not value.free_dims:
            message = f"no matrix product uses '{value.name}': use 'manual' to name its dimension"
            raise UsageError(error(message))
        yield Assignment(value.name, value.free_dims[0], axis)


@tactic
def sequence(program: TacticProgram, *, axis: str, dim: int = 1) -> Iterator[Assignment]:
    """Shard activations along the sequence where tensor parallelism completes them.

    This is Megatron-LM's sequence parallelism (Korthikanti et al., 2022). It comes after `megatron`
    with the same axis. The results of matrix products and lookups that are partial along the axis
    are scattered along the sequence instead of being completed on all devices. Propagation carries
    this to the operations between the blocks, such as norms and residuals, until the next products
    gather them.

    Communication: the all-reduces of tensor parallelism become pairs of a reduce-scatter and an
    all-gather, with the same bytes in total. Parameters of norms, which are used between blocks,
    get an all-reduce of their gradient along the axis. The memory of activations between blocks is
    divided by the size of the axis.

    Args:
        program: the program.
        axis: the axis of tensor parallelism.
        dim: the dimension of the sequence in activations.
    """
    size = program.size_of(axis)
    partial = program.partial.get(axis, ())
    activations = [each for each in partial if len(each.shape) > max(dim, 1) + 1]
    if not activations:
        message = (
            f"no result of a matrix product is partial along '{axis}': 'sequence' comes after a "
            "tactic that shards a contracting dimension along this axis, such as 'megatron'"
        )
        raise UsageError(error(message))
    for value in activations:
        if value.shape[dim] % size == 0:
            yield Assignment(value.name, dim, axis)


@tactic
def vocabulary(
    program: TacticProgram, tables: str | Sequence[str], *, axis: str
) -> Iterator[Assignment]:
    """Shard embedding tables and output projections along the vocabulary.

    The dimension of a table is that which a lookup indexes, else that which the first matrix
    product keeps: the columns of an output projection.

    Communication: an all-reduce of the looked-up activations in the forward pass, and one of the
    gradient of the activations before the output projection. A cross-entropy has 4 more, of one
    number for each token: the maximum, the sum and the score of the label, and a sum in the
    backward pass. The gradients of the tables need none along the axis.

    Args:
        program: the program.
        tables: patterns of the names of the tables and projections.
        axis: the axis.
    """
    program.size_of(axis)
    for value in program.arguments_of(tables):
        dims = value.indexed_dims or value.free_dims
        if not dims:
            message = f"no lookup or matrix product uses '{value.name}'"
            raise UsageError(error(f"{message}: use 'manual' to name its dimension"))
        yield Assignment(value.name, dims[0], axis)


@tactic
def expert(
    program: TacticProgram, weights: str | Sequence[str], *, axis: str
) -> Iterator[Assignment]:
    """Shard the experts of a mixture of experts: expert parallelism as in GShard.

    The dimension is the batching dimension of the first matrix product of a weight of shape
    `[expert, in, out]`.

    Communication, if the axis also shards the tokens: 4 all-to-alls of the dispatched activations
    for each layer: from tokens to experts and back, in the forward and in the backward pass. The
    last is missing in the first layer, if its input needs no gradient. The gradients of the experts
    need no all-reduce along the axis.

    Args:
        program: the program.
        weights: patterns of the names of the experts' weights.
        axis: the axis.
    """
    program.size_of(axis)
    for value in program.arguments_of(weights):
        if not value.batch_dims:
            message = f"no matrix product batches a dimension of '{value.name}'"
            raise UsageError(error(f"{message}: use 'manual' to name that of its experts"))
        yield Assignment(value.name, value.batch_dims[0], axis)


@tactic
def spatial(
    program: TacticProgram, inputs: str | Sequence[str], *, axis: str, dim: int
) -> Iterator[Assignment]:
    """Shard a spatial dimension of images: the height, width or depth.

    Communication: before each convolution with a kernel of size k > 1 a halo exchange: 2
    collective-permutes of (k - 1) / 2 rows each, in the forward pass, for the gradient of the
    kernel, and for that of the input. As for `batch`, one all-reduce for each gradient of a
    parameter.

    Args:
        program: the program.
        inputs: patterns of the names of arguments, such as images and masks.
        axis: the axis.
        dim: the dimension, negative from the end.
    """
    program.size_of(axis)
    for value in program.arguments_of(inputs):
        yield Assignment(value.name, _dim(value, dim), axis)


@tactic
def zero(
    program: TacticProgram,
    *,
    axis: str,
    stage: int = 3,
    parameters: str | Sequence[str] = (),
    state: str | Sequence[str] = (),
    reshard_after_forward: bool = False,
) -> Iterator[Assignment | SeparateReshards]:
    """Shard optimizer state and parameters along a data axis: ZeRO, or FSDP.

    Each value is sharded on its largest dimension that the axis divides, of those that no axis
    shards; without one, it stays as it is.

    Communication for each weight of b bytes:

    1. and 2. shard the optimizer state. The gradient is reduce-scattered, and the new weight is
       gathered: 2 (n - 1) / n b bytes are sent.
    3. shards the parameters, too. The weight is gathered, and kept for the backward pass; the
       gradient is reduce-scattered: 2 (n - 1) / n b bytes. With `reshard_after_forward`, or if the
       layer is rematerialized, the weight is gathered again in the backward pass: 2 all-gathers and
       1 reduce-scatter, 3 (n - 1) / n b bytes. Then no layer keeps gathered weights.

    In a step that contains the optimizer, stages 1 and 2 are the same: a gradient is a temporary
    value, and is reduced to the shards that the update needs.

    Args:
        program: the program.
        axis: the axis, of size n, which shards the batch.
        stage: 1, 2 or 3.
        parameters: patterns of the names of the parameters; needed for stage 3.
        state: patterns of the names of the optimizer state.
        reshard_after_forward: gather parameters for each matrix product, lookup or call that uses
            them, as the option of this name of PyTorch's `fully_shard`; for stage 3.
    """
    if stage not in (1, 2, 3):
        raise UsageError(error(f"ZeRO has the stages 1, 2 and 3, got: {stage}"))
    if stage == 3 and not parameters:
        raise UsageError(error("stage 3 of ZeRO shards parameters: give 'parameters'"))
    if stage < 3 and not state:
        raise UsageError(error(f"stage {stage} of ZeRO shards the optimizer state: give 'state'"))
    if stage < 3 and reshard_after_forward:
        message = (
            f"stage {stage} of ZeRO doesn't shard parameters, so that none are gathered in the"
        )
        raise UsageError(
            error(f"{message} forward pass: drop 'reshard_after_forward', or use stage 3")
        )
    size = program.size_of(axis)
    sharded = program.arguments_of(state) if state else []
    if stage == 3:
        sharded += program.arguments_of(parameters)
    for value in sharded:
        dims = [
            dim
            for dim, extent in enumerate(value.shape)
            if not value.axes_of(dim) and extent % size == 0
        ]
        if dims and not value.has_axis(axis):
            yield Assignment(value.name, max(dims, key=lambda dim: value.shape[dim]), axis)
            if reshard_after_forward:
                yield SeparateReshards(value.name)


@tactic
def auto(
    program: TacticProgram,
    *,
    axes: Sequence[str],
    memory: float | str | None = None,
    hardware: str = DEFAULT_HARDWARE,
    timeout: float = 60.0,
) -> Iterator[Assignment]:
    """Find the shardings of arguments along some axes that lead to the least cost.

        sdy.Schedule([sdy.batch("x", axis="data"), sdy.auto(axes=["model"], memory="40GB")])

    The shardings of the tactics before are kept. Those of other values follow by propagation, which
    may find others than `sdy.auto_shard`.

    Args:
        program: the program.
        axes: the axes.
        memory: the memory of a device, in bytes or as a text.
        hardware: the devices and links: a preset or a TOML file.
        timeout: the seconds after which the search ends with the best shardings so far.
    """
    for axis in axes:
        program.size_of(axis)
    module = copy_of(program.module)
    main = main_function(module)
    assert main is not None, "checked at the beginning of the schedule"
    given = {at: each.sharding for at, each in enumerate(program.arguments) if each.sharding}
    if given:
        set_argument_shardings(main, given)
    used = {axis.name for each in given.values() for axis in each.all_axes()}
    options = SearchOptions(
        memory=memory,
        axes=[name for name in program.mesh.axis_names if name in used or name in axes],
        fixed=True,
        gap=0.01,
        timeout=timeout,
        solver="combined",
    )
    search = Search(module, cost_model("time", report_hardware_of(hardware)), options)
    permitted = {
        site: frozenset(
            number
            for number, found in enumerate(search.built.graph.sites[site].alternatives.results[0])
            if all(
                each.name in axes or each.name in value.axes_of(dim)
                for dim, refs in enumerate(found)
                for each in refs
            )
        )
        for value, site in zip(program.arguments, search.argument_sites, strict=True)
    }
    choice = search.check_found(search.solve(permitted))
    for value, argument in zip(program.arguments, search.arguments, strict=True):
        for dim, found in enumerate(search.axes_of(choice, argument) or ()):
            for axis in found:
                if axis.name in axes and axis.name not in value.axes_of(dim):
                    yield Assignment(value.name, dim, axis.name)


def _values_or_word(program: TacticProgram, pattern: str) -> Sequence[TacticValue | str]:
    """Return the arguments, else the results that match a pattern; else the pattern itself."""
    try:
        return program.arguments_of(pattern)
    except UsageError:
        results = [each for each in program.results if matches(each.name, pattern)]
        if results:
            return results
        is_word = (
            pattern.startswith(("%", "result", "sharding_group "))
            or pattern.rpartition(":")[2].isdigit()
        )
        if is_word:
            return [pattern]
        raise


def _checked(dim: object) -> int | None:
    """Return a dimension as it is written.

    Raises:
        UsageError: it is not a number, None or "replicated".
    """
    if dim is None or dim == "replicated":
        return None
    if type(dim) is not int:
        message = f"expected a dimension, None or 'replicated', got: {dim!r}"
        raise UsageError(error(message))
    return dim


def _dim(value: TacticValue, dim: int | None) -> int | None:
    """Return a dimension counted from the first one.

    Raises:
        UsageError: the value has no such dimension.
    """
    if dim is None:
        return None
    rank = len(value.shape)
    if not -rank <= dim < rank:
        message = f"'{value.name}' has {rank} dimensions, so no dimension {dim}"
        raise UsageError(error(message))
    return dim % rank
