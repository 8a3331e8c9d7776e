# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The host keeps its own symbols beside libraries that bring an LLVM or a `malloc`."""

import ctypes.util
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CHECK = ROOT / "tools" / "check_import_orders.py"
OTHER_MLIR = Path("/usr/lib/llvm-22/lib/libMLIR.so")  # that of Debian's mlir-22-tools
USE = f"""
import ctypes, sys
ctypes.CDLL({str(OTHER_MLIR)!r}, mode=ctypes.RTLD_GLOBAL)
import pyshardy as sdy
try:
    sdy.parse("func.func @main(", sdy.Context())
except sdy.SdyError as error:
    print("refused")
module = sdy.parse({str(ROOT / "examples" / "mlp.mlir")!r}, sdy.Context())
sdy.propagate(module)
print(sdy.partition(module).collectives)
"""
needs_other_mlir = pytest.mark.skipif(
    not (OTHER_MLIR.exists() and hasattr(os, "RTLD_DEEPBIND")),
    reason=f"needs {OTHER_MLIR} and a dynamic linker that can bind to one library",
)


def run(
    *arguments: str, timeout: float | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
    )


@needs_other_mlir
def test_beside_another_mlir_in_the_global_scope():
    done = run("-c", USE)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("refused\n")
    assert "all_reduce" in done.stdout


@needs_other_mlir
def test_without_isolation_the_process_ends():
    """Check that the host aborts without the isolation: else it is no longer needed."""
    off = "import mlir_sdy.isolation as i; i.is_llvm_visible = lambda: False\n"
    try:
        done = run("-c", off + USE, timeout=120)
    except subprocess.TimeoutExpired:
        return  # what two LLVMs in one do is undefined
    assert done.returncode < 0
    assert "CommandLine" in done.stderr


@needs_other_mlir
def test_another_malloc_beside_another_mlir_is_an_error():
    """A library that is bound to itself would free what the other `malloc` has allocated."""
    library = ctypes.util.find_library("jemalloc") or ctypes.util.find_library("tcmalloc_minimal")
    if library is None:
        replaced = "import mlir_sdy.isolation as i; i.is_malloc_replaced = lambda: True\n"
        done = run("-c", replaced + USE)
    else:
        done = run("-c", USE, LD_PRELOAD=library)
    assert done.returncode == 1
    assert "replaces malloc" in done.stderr.splitlines()[-1]
    assert "import pyshardy first" in done.stderr.splitlines()[-1]


ORDERS = [("jax", "torch", "pyshardy")]


@pytest.mark.parametrize("order", ORDERS, ids=",".join)
def test_orders_of_imports(order):
    """All orders, with TensorFlow, too: `tools/check_import_orders.py --tensorflow`."""
    for package in order:
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} isn't installed")
    done = run(str(CHECK), f"--order={','.join(order)}", JAX_PLATFORMS="cpu")
    assert done.returncode == 0, done.stderr
