# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Import pyshardy and other packages that contain an LLVM, in every order, and use it.

Each order runs in a separate process, since symbol clashes between two LLVMs end the process.

    python tools/check_import_orders.py                # jax, torch, pyshardy: as installed here
    python tools/check_import_orders.py --tensorflow   # tensorflow, too, in its own environment
    python tools/check_import_orders.py --tensorflow --balanced   # four orders of the four

In balanced orders, each package is the first in one, and comes right after each of the others in
one: which library a symbol is bound to depends on what was loaded before.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path
from typing import Any

import environments

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENT = ROOT / "build" / "beside-tensorflow"
TENSORFLOW = "tensorflow-cpu==2.21.0"
PACKAGES = ("jax", "torch", "pyshardy")
SECONDS = 300
"""The time limit of one order; 15 are usual."""

PROGRAM = """
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<4x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<4x3xf32>, tensor<3xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.custom_call @twice(%x) {
    sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=3}, custom>
  } : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %1 = stablehlo.exponential %0 : tensor<4x3xf32>
  %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0]
    : (tensor<4x3xf32>, tensor<f32>) -> tensor<3xf32>
  return %1, %2 : tensor<4x3xf32>, tensor<3xf32>
}
"""

NOT_A_PROGRAM = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %y : tensor<4xf32> }"


def main() -> int:
    """Run all orders; the exit code is 1 if one fails."""
    arguments = _arguments()
    if arguments.order:
        use(arguments.order.split(","))
        return 0
    packages: tuple[str, ...] = PACKAGES
    python = Path(sys.executable)
    if arguments.tensorflow:
        packages = ("tensorflow", *packages)
        python = environment(arguments.environment)
    orders = balanced_orders(packages) if arguments.balanced else permutations(packages)
    with ThreadPoolExecutor(arguments.jobs) as pool:
        failures = sum(pool.map(lambda order: run(python, order), orders))
    print(f"{len(orders) - failures} of {len(orders)} orders work")
    return 1 if failures else 0


def permutations(packages: Sequence[str]) -> list[tuple[str, ...]]:
    """Return all orders of some packages."""
    return list(itertools.permutations(packages))


def balanced_orders(packages: Sequence[str]) -> list[tuple[str, ...]]:
    """Return as many orders as packages, in which each ordered pair is adjacent once.

    This is the Latin square of E. J. Williams (1949): the first order is 0, n - 1, 1, n - 2, ...,
    and the others add 1, 2, ... to it modulo n.

    Args:
        packages: an even number n of packages.
    """
    count = len(packages)
    first = [at // 2 if at % 2 == 0 else count - 1 - at // 2 for at in range(count)]
    return [tuple(packages[(number + shift) % count] for number in first) for shift in range(count)]


def environment(path: Path) -> Path:
    """Return the Python of an environment with the project and TensorFlow.

    JAX and PyTorch have the versions of this environment.

    Args:
        path: the directory of the environment. Existing packages aren't installed again.
    """
    python = path / "bin" / "python"
    if not python.exists():
        environments.make(sys.executable, path)
    same = [f"{name}=={metadata.version(name).partition('+')[0]}" for name in ("jax", "torch")]
    # By pip, as in `make setup`: uv would prefer another build of PyTorch. The orders compile, to
    # bytecode, only the modules that they import.
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
    wanted = ["--editable", str(ROOT), *same, TENSORFLOW]
    subprocess.run([*pip, "install", "--quiet", "--no-compile", *wanted], check=True)
    return python


def run(python: Path, order: Sequence[str]) -> bool:
    """Run one order in a separate process, and print the outcome.

    Returns:
        Whether it failed.
    """
    started = time.perf_counter()
    quiet = {"JAX_PLATFORMS": "cpu", "CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "3"}
    try:
        done = subprocess.run(
            [python, __file__, f"--order={','.join(order)}"],
            env={**os.environ, **quiet},
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS,
            check=False,
        )
        status, said = done.returncode, done.stderr
    except subprocess.TimeoutExpired:
        status, said = -1, f"it takes more than {SECONDS} s"
    verdict = f"FAILED with status {status}" if status else "OK"
    print(f"{', '.join(order)}: {verdict} ({time.perf_counter() - started:.0f} s)", flush=True)
    if status:
        print("\n".join(f"    {line}" for line in said.strip().splitlines()[-20:]), flush=True)
    return status != 0


def use(order: Sequence[str]) -> None:
    """Import packages in this process in a given order, then use pyshardy and the packages."""
    packages = {name: importlib.import_module(name) for name in order}
    _use_pyshardy(packages["pyshardy"])
    _refuse_in_pyshardy(packages["pyshardy"])
    if "jax" in packages:
        _use_jax(packages["pyshardy"], packages["jax"])
    if "torch" in packages:
        _use_torch(packages["torch"])
    if order[-1] == "torch":
        _trace_torch(packages["pyshardy"], packages["torch"])
    if "tensorflow" in packages:
        _use_tensorflow(packages["tensorflow"])


def _use_pyshardy(sdy: Any) -> None:
    """Parse, propagate, partition, and run by the JIT with a callback, in a child and here."""
    np = importlib.import_module("numpy")
    module = sdy.parse(PROGRAM, sdy.Context())
    sdy.propagate(module)
    program = sdy.partition(module)
    assert "all_reduce" in sdy.asm(program.module)
    x = np.arange(12, dtype=np.float32).reshape(4, 3) / 8
    options = sdy.CompileOptions(custom_calls={"twice": lambda rows: rows + rows})
    for backend in ("interpreter", "jit"):
        found, total = program.run([x], backend, options)
        np.testing.assert_allclose(found, np.exp(2 * x), rtol=1e-5)
        np.testing.assert_allclose(total, np.exp(2 * x).sum(axis=0), rtol=1e-5)
    _compile_here(np, sdy)


def _compile_here(np: Any, sdy: Any) -> None:
    """Compile machine code in this process, as the programs for MPI do."""
    importlib.import_module("mlir_sdy.host").load_loop_passes()
    compiler = importlib.import_module("pyshardy.backends.jit.compiler")
    text = (
        "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {\n"
        "  %0 = stablehlo.add %x, %x : tensor<3xf32>\n  return %0 : tensor<3xf32>\n}"
    )
    (found,) = compiler.compile_text(text, sdy.Context(), 2)([np.ones(3, np.float32)])
    assert found.tolist() == [2, 2, 2]


def _refuse_in_pyshardy(sdy: Any) -> None:
    """Check that an error in C++ becomes an exception."""
    try:
        sdy.parse(NOT_A_PROGRAM, sdy.Context())
    except sdy.SdyError as error:
        assert "undeclared SSA value" in str(error), error  # noqa: PT017 (no test of pytest's)
    else:
        raise AssertionError("an invalid program was accepted")


def _use_jax(sdy: Any, jax: Any) -> None:
    module = sdy.jax.trace(lambda x: jax.numpy.sin(x) @ x, jax.numpy.ones((4, 4)))
    sdy.propagate(module)
    assert "stablehlo.dot_general" in sdy.asm(module)
    assert float(jax.jit(lambda x: x + 1)(1.0)) == 2


def _use_torch(torch: Any) -> None:
    assert float(torch.ones(2, 2).matmul(torch.ones(2, 2)).sum()) == 8


def _trace_torch(sdy: Any, torch: Any) -> None:
    """Trace a module: in some orders only, as it loads Python code for 5 seconds."""
    traced = sdy.torch.trace(torch.nn.Linear(3, 2), torch.ones(4, 3))
    assert "stablehlo" in sdy.asm(traced.module)


def _use_tensorflow(tensorflow: Any) -> None:
    by_xla = tensorflow.function(lambda x: x * 2 + 1, jit_compile=True)
    assert float(by_xla(tensorflow.constant(3.0))) == 7
    total = sum(int(each) for each in tensorflow.data.Dataset.range(4).map(lambda x: x * 2))
    assert total == 12


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--tensorflow", action="store_true", help="with TensorFlow, too")
    parser.add_argument(
        "--balanced", action="store_true", help="only orders that have each pair adjacent once"
    )
    parser.add_argument(
        "--environment",
        type=Path,
        default=ENVIRONMENT,
        help="where the environment with TensorFlow is, or is made (default: %(default)s)",
    )
    parser.add_argument(
        "-j", "--jobs", type=int, default=os.cpu_count(), help="how many orders run at a time"
    )
    parser.add_argument("--order", help=argparse.SUPPRESS)  # what a child is asked for
    arguments = parser.parse_args()
    if arguments.balanced and not arguments.tensorflow:
        parser.error("--balanced needs an even number of packages: give --tensorflow, too")
    return arguments


if __name__ == "__main__":
    sys.exit(main())
