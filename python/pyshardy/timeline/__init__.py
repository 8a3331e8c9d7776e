# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The time and memory of a local program, and the order in which collectives are hidden.

Passes and reports have one model: what a pass places is what `Estimate.predicted` foretells.

| module              | contents                                                      |
|---------------------|---------------------------------------------------------------|
| `operation_table`   | the operations of a program as lists, and the steps of blocks |
| `memory`            | the peak memory of a device                                   |
| `durations`         | the work, and the seconds of each operation                   |
| `clock`             | the run of a program in time, on lanes                        |
| `scheduling`        | the order of a block in which little communication is exposed |
| `run`               | the timeline of a program                                     |
| `loop_collectives`  | what can run beside another iteration of a loop               |
| `loop_plans`        | which of that gains time within the memory                    |
| `loop_iterations`   | loops in which it does                                        |
| `async_collectives` | starts of collectives, and waits for them                     |
"""
