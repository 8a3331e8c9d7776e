# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Portable artifacts of StableHLO: programs that other versions, and other tools, can read.

An artifact contains functions and operations of StableHLO only. The sdy dialect is represented by
strings, in the form that XLA uses internally, so that XLA and JAX can read it:

| in a module                 | in an artifact                                                    |
|-----------------------------|-------------------------------------------------------------------|
| a mesh                      | the attribute `xla.sdy.meshes` of the module                      |
| a sharding, a sharding rule | the attributes `xla.sdy.sharding` and `xla.sdy.sharding_rule`     |
| a sharding of a result      | a call of `@xla.sdy.FuncResultSharding` before the return         |
| `sdy.sharding_constraint`   | a call of `@Sharding`                                             |
| `sdy.sharding_group`        | a call of `@xla.sdy.ShardingGroup`                                |
| `sdy.propagation_barrier`   | a call of `@xla.sdy.PropagationBarrier`                           |
| `sdy.manual_computation`    | a function, called between `@xla.sdy.GlobalToLocalShape` and back |

| module         | contents                                       |
|----------------|------------------------------------------------|
| `artifact`     | conversion of modules to artifacts and back    |
| `to_strings`   | conversion from its left column to the right   |
| `from_strings` | conversion from its right column to the left   |
"""

from pyshardy.frontends.portable.artifact import deserialize, serialize, target_version

__all__ = ["deserialize", "serialize", "target_version"]
