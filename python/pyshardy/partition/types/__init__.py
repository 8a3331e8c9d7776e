# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values that the partitioner computes with, and the builders of its operations.

| module                      | contents                                                     |
|-----------------------------|--------------------------------------------------------------|
| `factor_axes`               | the axes of the factors of an operation                      |
| `compatible_shardings`      | compatible shardings from the axes of factors                |
| `dot_result`                | Shardy's choice for results of matrix products               |
| `planned_axes`              | the axes of each factor that a plan has chosen               |
| `reshapes`                  | shards before and after a reshape                            |
| `steps`                     | the steps in which a reshard is planned                      |
| `one_mesh`, `single_device` | operations on several meshes, and on a single device         |
| `neutral_elements`          | neutral elements of reductions                               |
| `exchange_plan`             | the elements that shards need, and the shards that send them |
| `device_axis`               | operations between the devices along the axes of a dimension |
| `local_builder`             | builder of StableHLO for one device: ids, tables, offsets    |
| `padding_builder`           | operations that add, slice off and overwrite padding         |
"""
