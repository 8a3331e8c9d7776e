# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Portable artifacts of StableHLO: programs that other versions, and other tools, can read.

An artifact holds functions and operations of StableHLO only. What is sdy's is spelled in strings as
XLA spells it on the way from one of its parts to another, so that XLA and JAX understand it:

| in a module                 | in an artifact                                                    |
|-----------------------------|-------------------------------------------------------------------|
| a mesh                      | the attribute `xla.sdy.meshes` of the module                      |
| a sharding, a sharding rule | the attributes `xla.sdy.sharding` and `xla.sdy.sharding_rule`     |
| a sharding of a result      | a call of `@xla.sdy.FuncResultSharding` before the return         |
| `sdy.sharding_constraint`   | a call of `@Sharding`                                             |
| `sdy.sharding_group`        | a call of `@xla.sdy.ShardingGroup`                                |
| `sdy.propagation_barrier`   | a call of `@xla.sdy.PropagationBarrier`                           |
| `sdy.manual_computation`    | a function, called between `@xla.sdy.GlobalToLocalShape` and back |

| module         | what it holds                            |
|----------------|------------------------------------------|
| `artifact`     | artifacts from modules and back          |
| `versions`     | for which version an artifact is written |
| `names`        | the words of the table above             |
| `to_strings`   | from its left side to the right          |
| `from_strings` | and back                                 |
"""

from pyshardy.frontends.portable.artifact import deserialize, serialize
from pyshardy.frontends.portable.versions import target_version

__all__ = ["deserialize", "serialize", "target_version"]
