# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mistakes in a user's program that a type checker finds: see `test_types.py`."""

import numpy as np

import pyshardy as sdy

MODULE = sdy.parse("program.mlir")

sdy.propagate(MODULE, conservative_propagatoin=True)  # wrong: reportCallIssue
sdy.propagate(MODULE, propagation_strategy="agressive")  # wrong: reportArgumentType
sdy.partition(MODULE, combine_collectives="yes")  # wrong: reportArgumentType
print(sdy.explain(MODULE).collectives[0].colective)  # wrong: reportAttributeAccessIssue
sdy.explain(MODULE, hardware=3)  # wrong: reportArgumentType
sdy.jax.trace(np.ones, 8, static_argnum=1)  # wrong: reportCallIssue
print(sdy.values(MODULE)["%a"].typ)  # wrong: reportAttributeAccessIssue
sdy.Mesh(["x", "y"])  # wrong: reportArgumentType
sdy.passes.exporting.close_shardings(3)  # wrong: reportArgumentType
sdy.passes.exporting.close_sharding(MODULE)  # wrong: reportAttributeAccessIssue
print(sdy.AllGatherOpp)  # wrong: reportAttributeAccessIssue
