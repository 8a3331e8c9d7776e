#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Run on a machine with a GPU the checks that the project's tests run on CPUs.

    python tools/gpu_check.py write FOLDER              # elsewhere, with the package: artifacts
    python gpu_check.py run --artifacts=FOLDER          # there: all parts that can run
    python gpu_check.py run --parts=c --artifacts=FOLDER  # there, with only JAX and NumPy
    python tools/gpu_check.py run --device=cpu          # try the script without a GPU

Parts, each reported as passed, failed, or not possible with the reason:

a  Programs of the corpus, partitioned for a mesh of one GPU, compute the results of the CPU.
b  XLA compiles the programs, partitioned for eight GPUs, ahead of time: for attached GPUs, or for
   described ones, which JAX's plug-in for CUDA supports from jax 0.11 on.
c  Portable artifacts, written elsewhere by `sdy-translate`, load and run with JAX alone.
d  IREE compiles the programs for CUDA, and runs them where its runtime finds a driver.

It needs JAX 0.11 or newer with its plug-in for CUDA, so Python 3.12 or newer:
`pip install 'jax[cuda13]'`. Parts a, b and d need this package, with its extra `iree` for d. This
file may be copied alone for part c. The exit status is 1 when a part failed.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

CORPUS = Path(__file__).resolve().parents[1] / "test" / "corpus" / "mlir"
PROGRAMS = (
    "associative_scan",
    "cond_on_scalar",
    "convnet_batch",
    "embedding_gradient",
    "grouped_query_attention",
    "mixed_precision",
    "nested_loops",
    "op_dot_of_uneven",
    "op_pad_interior",
    "op_scatter_add_to_rows",
    "op_sort_pairs",
    "op_take_of_rows",
    "scan_lstm_gradient",
    "transformer_forward_3d",
    "transformer_train_sgd",
    "while_until_converged",
)
"""Programs of the corpus without LAPACK calls, XLA's random bits, and local shapes."""

REFUSED_BY_IREE = {"cuda": ("transformer_train_sgd",)}
"""By target, programs that IREE 3.13 rejects: "failed to get neutral element for reduction"."""

PARTS = "abcd"
EIGHT = 8
TOLERANCE = 1e-3
"""The tolerance of f32 results, relative to the largest one, for sums in another order."""
TOLERANCE_OF_SMALL_FLOATS = 5e-2
_SECONDS = 1500

# The description of GPUs that aren't attached, in XLA's format GpuTargetConfigProto.
H100 = """
gpu_device_info {
  threads_per_block_limit: 1024 threads_per_warp: 32 shared_memory_per_block: 49152
  shared_memory_per_core: 233472 threads_per_core_limit: 2048 core_count: 132 fpus_per_core: 128
  block_dim_limit_x: 2147483647 block_dim_limit_y: 65535 block_dim_limit_z: 65535
  memory_bandwidth: 3352320000000 l2_cache_size: 52428800 clock_rate_ghz: 1.98
  device_memory_size: 84978434048 shared_memory_per_block_optin: 232448
  cuda_compute_capability { major: 9 }
  registers_per_core_limit: 65536 registers_per_block_limit: 65536
}
platform_name: "CUDA"
dnn_version_info { major: 9 minor: 8 }
device_description_str: "NVIDIA H100 80GB HBM3"
"""


class NotPossibleError(Exception):
    """A part can't run on this machine; the message states the reason."""


# --- Programs -------------------------------------------------------------------------------------


def partitioned(path: Path, devices: int) -> tuple[Any, Any, list[Any]]:
    """Return a program before and after partitioning, with random inputs.

    Args:
        path: the program.
        devices: 1, for a mesh with the axes of the program's and one device; or the number of
            devices of the program's mesh.
    """
    import pyshardy as sdy  # noqa: PLC0415
    from mlir_sdy.attributes import attribute_of  # noqa: PLC0415
    from mlir_sdy.model import Mesh, MeshAxis  # noqa: PLC0415
    from mlir_sdy.symbols import mesh_operation, meshes_of  # noqa: PLC0415
    from pyshardy.backends.arrays.comparison import random_inputs  # noqa: PLC0415
    from pyshardy.irtools.modules import copy_of  # noqa: PLC0415

    module = sdy.parse(str(path), sdy.Context())
    original = copy_of(module)
    if devices == 1:
        for name, mesh in meshes_of(module).items():
            single = Mesh(tuple(MeshAxis(axis.name, 1) for axis in mesh.axes))
            declared = mesh_operation(module.operation, name)
            assert declared is not None, "`meshes_of` has found it"
            declared.attributes["mesh"] = attribute_of(single, module.context)
    sdy.propagate(module)
    program = sdy.partition(module)
    return original, program, random_inputs([port.spec for port in program.inputs], seed=0)


def programs(folder: Path, names: Sequence[str]) -> Iterator[Path]:
    """Yield the files of the corpus.

    Raises:
        NotPossibleError: the package or the corpus is missing.
    """
    if find_spec("pyshardy") is None:
        raise NotPossibleError("the package pyshardy isn't installed here")
    if not folder.is_dir():
        raise NotPossibleError(f"there are no programs in {folder}; say where by --programs")
    yield from (folder / f"{name}.mlir" for name in names)


def difference(found: Sequence[Any], expected: Sequence[Any]) -> float:
    """Return the largest difference of results, as a multiple of the tolerance.

    Raises:
        ValueError: their number or shapes differ.
    """
    worst = 0.0
    for ours, theirs in zip(found, expected, strict=True):
        if np.shape(ours) != np.shape(theirs):
            raise ValueError(f"a result of shape {np.shape(theirs)} has {np.shape(ours)}")
        kind = np.asarray(theirs).dtype
        if kind.kind in "biu" or np.size(theirs) == 0:
            worst = max(worst, 0.0 if np.array_equal(ours, theirs) else float("inf"))
            continue
        allowed = TOLERANCE if kind.itemsize >= 4 else TOLERANCE_OF_SMALL_FLOATS
        wide = np.complex128 if kind.kind == "c" else np.float64
        one, other = np.asarray(ours).astype(wide), np.asarray(theirs).astype(wide)
        largest = max(float(np.abs(other).max()), 1.0)
        distance = float(np.abs(one - other).max()) / largest / allowed
        worst = max(worst, distance if np.isfinite(distance) else float("inf"))
    return worst


def compared(name: str, found: Sequence[Any], expected: Sequence[Any]) -> float:
    """Return `difference`; raise an exception that names the program if it is above 1."""
    distance = difference(found, expected)
    if distance > 1:
        raise ValueError(f"{name}: a result differs by {distance:.3g} times what is allowed")
    return distance


def devices_of_jax(device: str) -> list[Any]:
    """Return the devices of JAX of a kind.

    Raises:
        NotPossibleError: JAX or such devices are missing.
    """
    if find_spec("jax") is None:
        raise NotPossibleError("JAX isn't installed here")
    import jax  # noqa: PLC0415

    try:
        return jax.devices("cuda" if device == "cuda" else "cpu")
    except RuntimeError as lack:
        raise NotPossibleError(f"JAX {jax.__version__} finds no such device: {lack}") from None


# --- a: numbers -----------------------------------------------------------------------------------


def part_a(options: argparse.Namespace) -> str:
    """Run programs on one device, and compare the results with the CPU's."""
    from pyshardy.program import run_unpartitioned  # noqa: PLC0415

    devices = devices_of_jax(options.device)
    backend = "xla-gpu" if options.device == "cuda" else "xla"
    worst, count = 0.0, 0
    for path in programs(options.programs, options.names):
        original, program, inputs = partitioned(path, devices=1)
        expected = run_unpartitioned(original, inputs, "jit")
        worst = max(worst, compared(path.stem, program.run(inputs, backend), expected))
        count += 1
    return f"{count} programs on {devices[0].device_kind}, at most {worst:.2g} of what may differ"


# --- b: ahead-of-time compilation -----------------------------------------------------------------


def part_b(options: argparse.Namespace) -> str:
    """Compile programs for eight devices, which need not be attached."""
    paths = list(programs(options.programs, options.names))
    import jax  # noqa: PLC0415

    devices, where = _eight_devices(options)
    collectives = 0
    for path in paths:
        _, program, _ = partitioned(path, devices=EIGHT)
        shape = [axis.size for axis in program.mesh.axes]
        names = [axis.name for axis in program.mesh.axes]
        if np.prod(shape) != EIGHT:
            continue
        mesh = jax.sharding.Mesh(np.array(devices).reshape(shape), names)
        function = program.as_jax(mesh)
        arguments = [
            jax.ShapeDtypeStruct(port.spec.shape, port.spec.dtype, sharding=sharding)
            for port, sharding in zip(program.inputs, function.in_shardings, strict=True)
        ]
        try:
            text = jax.jit(function).lower(*arguments).compile().as_text()
        except Exception as refusal:
            raise ValueError(f"{path.stem}: {refusal}") from refusal
        collectives += sum(text.count(f"{kind}(") for kind in ("all-reduce", "all-gather"))
    if not collectives:
        raise ValueError("the compiled programs hold no collectives")
    return f"{len(paths)} programs for {where}"


def _eight_devices(options: argparse.Namespace) -> tuple[list[Any], str]:
    """Return eight devices to compile for, and their description."""
    import jax  # noqa: PLC0415
    from jax.experimental import topologies  # noqa: PLC0415

    try:
        attached = devices_of_jax(options.device)
    except NotPossibleError:
        attached = []
    if len(attached) >= EIGHT:
        return attached[:EIGHT], f"{EIGHT} attached devices: {attached[0].device_kind}"
    if options.device == "cpu":
        raise NotPossibleError(f"{len(attached)} CPU devices, and no description of others")
    target = options.target.read_text() if options.target else H100
    try:
        described = topologies.get_topology_desc(
            platform="cuda", target_config=target, topology=f"1x1x{EIGHT}"
        )
    except Exception as lack:  # what the plug-in says when it can't
        reason = str(lack).partition("\n")[0]
        message = f"JAX {jax.__version__} offers no topology for {EIGHT} GPUs: {reason}"
        raise NotPossibleError(message) from None
    devices = list(described.devices)
    return devices, f"{EIGHT} GPUs that aren't there: {devices[0].device_kind}"


# --- c: portable artifacts ------------------------------------------------------------------------


def write(options: argparse.Namespace) -> int:
    """Write artifacts with inputs and expected results, for part c elsewhere."""
    from pyshardy.program import run_unpartitioned  # noqa: PLC0415

    options.folder.mkdir(parents=True, exist_ok=True)
    for path in programs(options.programs, options.names):
        original, program, inputs = partitioned(path, devices=1)
        expected = run_unpartitioned(original, inputs, "jit")
        arrays: dict[str, Any] = {}
        types: dict[str, str] = {}
        for kind, values in (("input", inputs), ("output", expected)):
            for index, value in enumerate(values):
                name = f"{kind}{index}"
                # NumPy's files know no numbers such as bf16.
                arrays[name] = np.frombuffer(np.ascontiguousarray(value).tobytes(), np.uint8)
                types[name] = json.dumps([str(value.dtype), list(value.shape)])
        np.savez_compressed(options.folder / f"{path.stem}.npz", **arrays)
        (options.folder / f"{path.stem}.json").write_text(json.dumps(types))
        _translate(program, options.folder / f"{path.stem}.mlirbc", options.version)
        print(f"wrote {path.stem}")
    return 0


def _translate(program: Any, target: Path, version: str) -> None:
    """Write the artifact of a partitioned program by `sdy-translate`."""
    import pyshardy as sdy  # noqa: PLC0415

    command = [sys.executable, "-m", "pyshardy.cli.translate", "-", "--to=portable"]
    subprocess.run(
        [*command, f"--target-version={version}", "-o", str(target)],
        input=sdy.asm(program.module),
        text=True,
        check=True,
    )


def part_c(options: argparse.Namespace) -> str:
    """Run artifacts with JAX and NumPy alone."""
    if options.artifacts is None:
        raise NotPossibleError("no artifacts are given; say where they are by --artifacts")
    paths = sorted(options.artifacts.glob("*.mlirbc"))
    if not paths:
        raise NotPossibleError(f"there are no artifacts in {options.artifacts}")
    device = devices_of_jax(options.device)[0]
    import jax  # noqa: PLC0415

    jax.config.update("jax_enable_x64", True)
    worst = 0.0
    for path in paths:
        inputs, expected = _arrays(path, "input"), _arrays(path, "output")
        try:
            found = _run_artifact(path.read_bytes(), inputs, expected, device)
        except Exception as refusal:
            raise ValueError(f"{path.stem}: {refusal}") from refusal
        worst = max(worst, compared(path.stem, found, expected))
    others = [name for name in ("pyshardy", "torch_mlir") if sys.modules.get(name) is not None]
    if others:
        raise ValueError(f"more than JAX and NumPy was used: {', '.join(others)}")
    kind = f"{device.device_kind} with jax {jax.__version__}"
    return f"{len(paths)} artifacts on {kind}, at most {worst:.2g} of what may differ"


def _arrays(path: Path, kind: str) -> list[Any]:
    import jax  # noqa: PLC0415

    types = json.loads(path.with_suffix(".json").read_text())
    found: list[Any] = []
    with np.load(path.with_suffix(".npz")) as stored:
        while (name := f"{kind}{len(found)}") in types:
            dtype, shape = json.loads(types[name])
            flat = np.frombuffer(stored[name].tobytes(), jax.numpy.dtype(dtype))
            found.append(flat.reshape(shape))
    return found


def _run_artifact(artifact: bytes, inputs: list[Any], outputs: list[Any], device: Any) -> list[Any]:
    """Return the results of a portable artifact on a device.

    JAX can call foreign programs in the form of `jax.export.Exported`. So a function of the same
    types is exported, and its body is replaced.
    """
    import dataclasses  # noqa: PLC0415

    import jax  # noqa: PLC0415
    import jax.export  # noqa: PLC0415

    results = [jax.ShapeDtypeStruct(each.shape, each.dtype) for each in outputs]

    def stand_in(*_: Any) -> tuple[Any, ...]:
        return tuple(jax.numpy.zeros(each.shape, each.dtype) for each in results)

    exported = jax.export.export(
        jax.jit(stand_in, keep_unused=True),
        disabled_checks=[jax.export.DisabledSafetyCheck.platform()],
    )(*(jax.ShapeDtypeStruct(each.shape, each.dtype) for each in inputs))
    program = dataclasses.replace(exported, mlir_module_serialized=artifact)
    placed = [jax.device_put(each, device) for each in inputs]
    with jax.default_device(device):
        return [np.asarray(each) for each in jax.jit(program.call)(*placed)]


# --- d: IREE --------------------------------------------------------------------------------------


def part_d(options: argparse.Namespace) -> str:
    """Compile programs by IREE, and run them where its runtime finds a driver."""
    paths = list(programs(options.programs, options.names))
    if find_spec("iree.compiler" if find_spec("iree") else "iree") is None:
        raise NotPossibleError("IREE isn't installed here: pip install 'pyshardy[iree]'")
    from pyshardy.backends.iree.engine import vmfb_of  # noqa: PLC0415
    from pyshardy.program import run_unpartitioned  # noqa: PLC0415

    target, driver = ("cuda", "cuda") if options.device == "cuda" else ("llvm-cpu", "local-task")
    lack = _lack_of_driver(driver)
    worst = 0.0
    refused: list[str] = []
    for path in paths:
        original, program, inputs = partitioned(path, devices=1)
        try:
            code = vmfb_of(program.module, target)
        except Exception as refusal:
            if path.stem not in REFUSED_BY_IREE.get(target, ()):
                raise ValueError(f"{path.stem}: {refusal}") from refusal
            refused.append(path.stem)
            continue
        if not lack:
            expected = run_unpartitioned(original, inputs, "jit")
            found = _run_vmfb(code, driver, inputs)
            worst = max(worst, compared(path.stem, found, expected))
    compiled = f"compiled {len(paths) - len(refused)} programs for {target}"
    if refused:
        compiled += f" (IREE refuses {', '.join(refused)}, as known)"
    if lack:
        return f"{compiled}; running them is not possible: {lack}"
    return f"{compiled}, and ran them, at most {worst:.2g} of what may differ"


def _lack_of_driver(name: str) -> str:
    """Return the reason for which IREE's runtime has no device of a driver, or an empty text."""
    from iree import runtime  # noqa: PLC0415

    try:
        devices = runtime.get_driver(name).query_available_devices()
    except Exception as refusal:  # it has one class of exceptions for everything
        reason = str(refusal).strip().partition("\n")[0]
        return f"IREE's runtime finds no driver '{name}': {reason}"
    return "" if devices else f"IREE's driver '{name}' finds no device"


def _run_vmfb(code: bytes, driver: str, inputs: Sequence[Any]) -> list[Any]:
    from iree import runtime  # noqa: PLC0415

    config = runtime.Config(driver)
    context = runtime.SystemContext(config=config)
    module = runtime.VmModule.copy_buffer(config.vm_instance, code)
    context.add_vm_module(module)
    results = context.modules[module.name]["main"](*inputs)
    several = results if isinstance(results, list | tuple) else [results]
    return [np.array(each.to_host()) for each in several]


# --- The command line -----------------------------------------------------------------------------

CHECKS: dict[str, Callable[[argparse.Namespace], str]] = {
    "a": part_a,
    "b": part_b,
    "c": part_c,
    "d": part_d,
}


def run(options: argparse.Namespace) -> int:
    """Run each part in a separate process, since it may crash, and report."""
    unknown = set(options.parts) - set(PARTS)
    if unknown:
        print(f"there is no part '{min(unknown)}'; there are: {', '.join(PARTS)}", file=sys.stderr)
        return 2
    failed = False
    for part in options.parts:
        status, said = _run_part(part)
        failed |= status == "failed"
        print(f"{part} {status}: {said}", flush=True)
    return 1 if failed else 0


def _run_part(part: str) -> tuple[str, str]:
    command = [sys.executable, *sys.argv, f"--here={part}"]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        return "failed", f"it doesn't end within {_SECONDS} seconds"
    if ran.returncode < 0:
        return "failed", f"its process was ended by {signal.Signals(-ran.returncode).name}"
    lines = ran.stdout.strip().splitlines()
    if ran.returncode or not lines:
        said = ran.stderr.strip().splitlines()
        return "failed", said[-1] if said else f"its process ended with status {ran.returncode}"
    status, _, said = lines[-1].partition(": ")
    return status, said


def _run_here(options: argparse.Namespace) -> int:
    """Run one part in this process, and print its outcome."""
    try:
        print(f"passed: {CHECKS[options.here](options)}")
    except NotPossibleError as reason:
        print(f"not possible: {reason}")
    except Exception as failure:  # whatever a compiler or a driver may do
        reason = str(failure).strip().partition("\n")[0]
        print(f"failed: {type(failure).__name__}: {reason}")
    return 0


def _set_environment(device: str, virtual: int) -> None:
    """Set the environment variables that JAX reads at its import, unless the user set them."""
    if device == "cpu":
        os.environ.setdefault("JAX_PLATFORMS", "cpu")
        count = f"--xla_force_host_platform_device_count={virtual}"
        os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {count}".strip()
        return
    # Several processes share the GPU. TF32 has 10 bits where f32 has 23.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    os.environ.setdefault("NVIDIA_TF32_OVERRIDE", "0")
    # The plug-in compiles for GPUs that aren't there without the libraries that it looks for.
    if not Path("/dev/nvidia0").exists():
        os.environ.setdefault("JAX_SKIP_CUDA_CONSTRAINTS_CHECK", "1")


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True, dest="command")
    writing = commands.add_parser("write", help="write artifacts for part c")
    writing.add_argument("folder", type=Path, help="where to write them")
    writing.add_argument(
        "--version", default="1.15.0", help="of StableHLO, to be read by it and newer ones"
    )
    running = commands.add_parser("run", help="run the parts")
    running.add_argument("--device", choices=("cuda", "cpu"), default="cuda", help="to run on")
    running.add_argument("--parts", default=PARTS, help=f"to run (default: {PARTS})")
    running.add_argument("--artifacts", type=Path, help="what 'write' has written, for part c")
    running.add_argument(
        "--target", type=Path, help="a GpuTargetConfigProto for part b (default: an H100)"
    )
    running.add_argument(
        "--virtual-devices", type=int, default=EIGHT, help="with --device=cpu (default: 8)"
    )
    running.add_argument("--here", choices=tuple(PARTS), help=argparse.SUPPRESS)
    for each in (writing, running):
        each.add_argument("--programs", type=Path, default=CORPUS, help="the folder of the corpus")
        each.add_argument("--names", nargs="+", default=PROGRAMS, help="programs of it to take")
    options = parser.parse_args()
    if options.command == "write":
        _set_environment("cpu", virtual=1)
        return write(options)
    _set_environment(options.device, options.virtual_devices)
    return _run_here(options) if options.here else run(options)


if __name__ == "__main__":
    sys.exit(main())
