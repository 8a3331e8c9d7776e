# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Automatic sharding: the best plan of a cost model, with a proven bound.

| module       | contents                                                                         |
|--------------|----------------------------------------------------------------------------------|
| `problem`    | the optimization problem as arrays, and its exact reductions                     |
| `strategies` | the ways to compute each operation on shards, with their costs                   |
| `graph`      | a program as sites where a strategy is chosen, and the tensors between them      |
| `solvers`    | the solvers of the optimization problem: the protocol, and three implementations |
| `search`     | the search for a plan: from a program to its annotated copy                      |
| `plans`      | the plan that a search returns: its certificate, answers, files and report       |
| `entry`      | `sdy.auto_shard`                                                                 |
| `for_jax`    | `sdy.jax.auto_shard`                                                             |
| `for_torch`  | `sdy.torch.auto_shard`                                                           |
"""
