# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cost model: hardware, and the work of operations.

| module             | contents                                                       |
|--------------------|----------------------------------------------------------------|
| `default_hardware` | the name of the default                                        |
| `hardware`         | devices and links, from TOML files                             |
| `collectives`      | the communication time of collectives                          |
| `op_work`          | the operations and memory traffic of each operation            |
| `presets/`         | hardware by name                                               |
| `measured`         | measured times and rates of hardware, and where they come from |
"""
