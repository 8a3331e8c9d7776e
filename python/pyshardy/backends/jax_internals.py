# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The private parts of JAX that the project uses; no other module refers to them.

JAX may change these in any release. They exist, with these meanings, in jax 0.10.2 to 0.12.0.1;
`docs/support.md` lists the versions that the tests have run with. To admit another version, run
`make newest-jax` with it, adapt this module, and raise the bound in `pyproject.toml`.

JAX is imported at the first use. The MLIR host is not imported, since the process of XLA runs
without it.
"""

# pyright: basic, reportPrivateImportUsage=false, reportMissingTypeStubs=false

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import jax
    import jax.export
    import numpy as np


def compile_options(
    replicas: int, partitions: int, shardy: bool, optimization: int | None = None
) -> Any:
    """Return the options of XLA for a program on so many devices, which are numbered in order.

    Args:
        replicas: the number of replicas.
        partitions: the number of partitions of each.
        shardy: whether XLA's own pass of Shardy lowers `sdy.manual_computation`.
        optimization: the level of the code generator; None for XLA's default.
    """
    import numpy as np  # noqa: PLC0415
    from jax._src.lib import _jax  # noqa: PLC0415

    assignment = np.arange(replicas * partitions).reshape(replicas, partitions)
    options = _jax.CompileOptions()
    build_options = options.executable_build_options
    for part in (options, build_options):
        part.num_replicas, part.num_partitions = replicas, partitions
        part.device_assignment = _jax.DeviceAssignment.create(assignment)
    build_options.use_spmd_partitioning = partitions > 1
    build_options.use_shardy_partitioner = shardy
    options.env_option_overrides = list(_debug_options(optimization).items())
    return options


def _debug_options(optimization: int | None) -> dict[str, Any]:
    """Return the debug options of XLA for a level of optimization."""
    import jax  # noqa: PLC0415

    if optimization is None:
        return {}
    level = {"xla_backend_optimization_level": optimization}
    if optimization > 0:
        return level
    fast = {**level, "xla_llvm_disable_expensive_passes": True}
    if jax.__version_info__ < (0, 11):  # Later versions have no other code generator.
        fast["xla_cpu_use_fusion_emitters"] = False
    return fast


def device_list(devices: Sequence[Any]) -> Any:
    """Return devices in the form that the methods of XLA's client take."""
    from jax._src.lib import _jax  # noqa: PLC0415

    return _jax.DeviceList(tuple(devices))


def compile_with_callbacks(text: str | bytes, devices: Any, options: Any, callbacks: Any) -> Any:
    """Compile a program whose custom calls to Python call functions by their index.

    Args:
        text: the program.
        devices: what `device_list` returns.
        options: what `compile_options` returns.
        callbacks: the functions.
    """
    from jax._src.interpreters.mlir import make_ir_context  # noqa: PLC0415
    from jax._src.lib.mlir import ir  # noqa: PLC0415

    with make_ir_context():
        module = ir.Module.parse(text)
        return devices[0].client.compile_and_load(module, devices, options, callbacks)


@dataclasses.dataclass(frozen=True, eq=False)
class CallingProgram:
    """A program that calls functions of Python, to be called as a function of JAX.

    Attributes:
        exported: returns the program in the form of `jax.export`, for the number of its first
            callback and a platform.
        callbacks: the functions, by their numbers in the program.
        results: the types of the results, as `jax.ShapeDtypeStruct`.
        has_effects: whether calls have to be executed even if their results are unused.
        refuse_gradient: raises the error for a program that is differentiated.
    """

    exported: Callable[[int, str], jax.export.Exported]
    callbacks: Sequence[Callable[..., Any]]
    results: Sequence[Any]
    has_effects: bool
    refuse_gradient: Callable[..., Any]

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        """Run the program within a function that JAX compiles."""
        return tuple(_calling_program().bind(*arrays, program=self))


@functools.cache
def _calling_program() -> Any:
    """Return the primitive by which JAX keeps the callbacks with a compiled program."""
    from jax._src.callback import _IOEffect  # noqa: PLC0415
    from jax.core import ShapedArray  # noqa: PLC0415
    from jax.extend.core import Primitive  # noqa: PLC0415
    from jax.interpreters import ad, mlir  # noqa: PLC0415

    primitive = Primitive("partitioned_program")
    primitive.multiple_results = True

    def types_and_effects(*_: Any, program: CallingProgram) -> Any:
        types = [ShapedArray(each.shape, each.dtype) for each in program.results]
        return types, {_IOEffect} if program.has_effects else set()

    def lowering(ctx: Any, *arguments: Any, program: CallingProgram) -> Any:
        first = len(ctx.module_context.host_callbacks)
        for callback in program.callbacks:
            ctx.module_context.add_host_callback(callback)
        exported = program.exported(first, ctx.module_context.platforms[0])
        return mlir.lower_fun(exported.call, multiple_results=True)(ctx, *arguments)

    primitive.def_effectful_abstract_eval(types_and_effects)
    mlir.register_lowering(primitive, lowering)
    ad.primitive_jvps[primitive] = lambda *_, program: program.refuse_gradient()
    return primitive


@dataclasses.dataclass(frozen=True)
class CustomPartitioning:
    """A call of a function of `jax.experimental.custom_partitioning`.

    Attributes:
        partition: takes a mesh, and the trees of the types of arguments and of the result, with
            shardings. Returns a mesh, a function of shards, and the shardings that it has of the
            result and of its arguments.
        mesh: the active mesh when the function was traced.
        in_tree: the structure of its arguments.
        out_tree: the structure of its result.
    """

    partition: Callable[..., tuple[Any, Callable[..., Any], Any, Any]]
    mesh: Any
    in_tree: Any
    out_tree: Any


def custom_partitionings(kept: Sequence[Any]) -> dict[str, CustomPartitioning]:
    """Return the calls of functions with a partition function, by the keys in their module.

    Args:
        kept: what JAX keeps alive with a lowered function.
    """
    if not kept:
        return {}
    from jax._src.custom_partitioning import _ShardingCallbackInfo  # noqa: PLC0415

    return {
        str(id(each)): CustomPartitioning(
            # The objects must stay alive, since their addresses are the keys.
            functools.partial(_partition, each),
            each.mesh,
            each.in_tree,
            each.out_tree,
        )
        for each in kept
        if isinstance(each, _ShardingCallbackInfo)
    }


def _partition(info: Any, mesh: Any, arguments: Any, result: Any) -> Any:
    return info.partition(*info.static_args, mesh, arguments, result)


Inspection = Callable[["jax.sharding.NamedSharding", int], None]
"""Takes the sharding of a value, on a mesh that may be abstract, and its number of dimensions."""


def inspections(kept: Sequence[Any]) -> dict[bytes, Inspection]:
    """Return the functions that a module tells shardings, by the keys in the module.

    Args:
        kept: what JAX keeps alive with a lowered function.
    """
    if not kept:
        return {}
    from jax._src import debugging  # noqa: PLC0415
    from jax._src.lib import xla_client  # noqa: PLC0415

    return {
        xla_client.encode_inspect_sharding_callback(each): functools.partial(_tell, each)
        for each in kept
        if getattr(each, "__module__", None) == debugging.__name__
    }


def _tell(function: Any, sharding: jax.sharding.NamedSharding, rank: int) -> None:
    function(sharding._to_xla_hlo_sharding(rank))


def initialize_lapack() -> None:
    """Register the LAPACK functions that programs on CPUs may call; a call crashes without it."""
    from jax._src.lax.linalg import initialize_lapack  # noqa: PLC0415

    initialize_lapack()


def compile_arguments(lowered: jax.stages.Lowered) -> Mapping[str, Any]:
    """Return `kept_var_idx`, `in_shardings` and `out_shardings` of a lowered function, and more."""
    return lowered._lowering.compile_args  # type: ignore[attr-defined]


def text_and_constants(lowered: jax.stages.Lowered, most: int) -> tuple[str, Iterator[np.ndarray]]:
    """Return the text, with locations, of a lowered function, and its large constants.

    Args:
        lowered: the function.
        most: the number of elements up to which constants are in the text. Larger ones, unless all
            their elements are equal, are `dense_resource<__elided__>` there.

    Returns:
        The text, and for each such constant, in order, an array of its elements; or an array of
        their bytes, if NumPy lacks the element type.
    """
    module: Any = lowered.compiler_ir("stablehlo")
    text = module.operation.get_asm(enable_debug_info=True, large_elements_limit=most)
    return text, _large_constants(module, most) if _ELIDED in text else iter(())


_ELIDED = "dense_resource<__elided__>"


def _large_constants(module: Any, most: int) -> Iterator[np.ndarray]:
    import numpy as np  # noqa: PLC0415
    from jaxlib.mlir import ir  # noqa: PLC0415

    constants: list[Any] = []

    def visit(operation: Any) -> Any:
        if operation.name == "stablehlo.constant" and (
            np.prod(ir.RankedTensorType(operation.results[0].type).shape) > most
        ):
            text = operation.get_asm(large_elements_limit=most, use_local_scope=True)
            constants.extend([operation] if _ELIDED in text else [])
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    for constant in constants:
        element = ir.RankedTensorType(constant.results[0].type).element_type
        if isinstance(element, ir.F32Type | ir.F64Type | ir.F16Type) or (
            isinstance(element, ir.IntegerType) and (element.width >= 8 or element.width == 1)
        ):
            yield np.asarray(constant.operation.opview.value)  # without a copy
        else:
            yield np.frombuffer(_bytes_of(constant), np.uint8)


def _bytes_of(constant: Any) -> bytes:
    """Return the elements of a constant, which the bindings show in bytecode only."""
    from jaxlib.mlir import ir  # noqa: PLC0415

    with ir.Location.unknown(constant.context):
        alone = ir.Module.create()
    alone.body.append(constant.operation.clone())
    largest = b""

    class LargestPart:
        """Keeps the largest part, since the elements are written at once."""

        def write(self, part: bytes) -> None:
            nonlocal largest
            largest = max(largest, part, key=len)

    alone.operation.write_bytecode(LargestPart())
    return largest


@functools.cache
def keeping_ragged_products() -> Mapping[str, Any]:
    """Return arguments of `Traced.lower` by which `ragged_dot` is one operation on all platforms.

    JAX expands it for CPUs, to a product of all rows with the matrices of all groups. Of that, the
    groups of the rows can't be told any more.
    """
    from jax._src.interpreters.mlir import LoweringParameters  # noqa: PLC0415
    from jax._src.lax.lax import _ragged_dot_general_lower, ragged_dot_general_p  # noqa: PLC0415

    rules = ((ragged_dot_general_p, _ragged_dot_general_lower),)
    return {"_private_parameters": LoweringParameters(override_lowering_rules=rules)}


def key_implementation(dtype: Any) -> str:
    """Return the name of the random number generator of a key type."""
    return dtype._impl.name


def with_artifact(exported: jax.export.Exported, artifact: bytes) -> jax.export.Exported:
    """Return an exported function with another program, and without a gradient."""
    return dataclasses.replace(exported, mlir_module_serialized=artifact, _get_vjp=None)


def stablehlo_version() -> str:
    """Return the version of StableHLO in jaxlib."""
    from jaxlib.mlir.dialects import stablehlo  # noqa: PLC0415

    return stablehlo.get_current_version()


def text_of_artifact(data: bytes) -> str:
    """Return the text, with locations, of a portable artifact that may hold sdy in binary form."""
    from jaxlib.mlir import ir  # noqa: PLC0415
    from jaxlib.mlir.dialects import sdy, stablehlo  # noqa: PLC0415

    context = ir.Context()
    stablehlo.register_dialect(context)
    sdy.register_dialect(context)
    module = stablehlo.deserialize_portable_artifact(context, data)
    return str(module.operation.get_asm(enable_debug_info=True))
