# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Upstream's passes on the shard dialect, refused where they would make wrong code.

| module             | what it holds                          |
|--------------------|----------------------------------------|
| `reshards`         | which reshards `shard-partition` knows |
| `partition`        | the pass `shard-partition`             |
| `simplify`         | the pass `shard-simplify`              |
| `to_mpi`           | the pass `convert-shard-to-mpi`        |
"""
