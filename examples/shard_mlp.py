# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program annotated with the shard dialect, propagated, partitioned and run by pyshardy."""

from pathlib import Path

import numpy as np

import pyshardy as sdy

PROGRAM = Path(__file__).parent / "shard_programs" / "mlp.mlir"

module = sdy.parse(PROGRAM, sdy.Context())
sdy.run_pipeline(module, "convert-shard-to-sdy")
sdy.propagate(module)
program = sdy.partition(module)

print("What each device holds of the arguments:")
for port in program.inputs:
    print(f"  {port.spec} {port.sharding} -> {port.local_spec}")
print("What the devices send:")
for sent in program.collectives:
    print(f"  {sent.kind} along {', '.join(sent.axes)}: {sent.nbytes_sent} bytes from each")

rng = np.random.default_rng(0)
x, w1, b1, w2 = (rng.standard_normal(port.spec.shape).astype(np.float32) for port in program.inputs)
(result,) = program.run([x, w1, b1, w2])
np.testing.assert_allclose(result, np.tanh(x @ w1 + b1) @ w2, rtol=1e-4, atol=1e-5)
print("The numbers are those of NumPy.")
