# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A chain of matrix products on six MPI processes, compiled without XLA.

mpiexec -n 6 python examples/mpi_matmul_chain.py

Each process compiles the same program for itself: Shardy's shardings, the shard dialect, linalg,
upstream's lowering to MPI, LLVM.
"""

import os
from pathlib import Path

import numpy as np

import pyshardy as sdy

PROGRAM = Path(__file__).parent / "shard_programs" / "matmul_chain.mlir"

module = sdy.parse(PROGRAM, sdy.Context())
sdy.run_pipeline(module, "convert-shard-to-sdy")
sdy.propagate(module)
program = sdy.partition(module)

rng = np.random.default_rng(0)
a, b, c = (rng.standard_normal(port.spec.shape).astype(np.float32) for port in program.inputs)
(result,) = program.run([a, b, c], backend="mpi")
np.testing.assert_allclose(result, a @ b @ c, rtol=1e-4, atol=1e-4)
if int(os.environ.get("PMI_RANK", "0")) == 0:
    print("The numbers are those of NumPy.")
