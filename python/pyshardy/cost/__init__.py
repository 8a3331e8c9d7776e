# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a partitioned program is estimated to take: time of a run, and memory of a device.

| module       | what it holds                                                   |
|--------------|-----------------------------------------------------------------|
| `hardware`   | devices and links, from TOML files                              |
| `work`       | the operations and accesses of each StableHLO operation         |
| `memory`     | the memory that is needed at once                               |
| `estimate`   | all of them together                                            |
| `difference` | two plans side by side                                          |
| `presets/`   | hardware that is known by name                                  |
"""
