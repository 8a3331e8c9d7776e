# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Partial results: what is known of addends that several devices hold.

| module              | contents                                                             |
|---------------------|----------------------------------------------------------------------|
| `reductions`        | the completion that the results of an operation need                 |
| `linear_operations` | operations with partial results for partial operands                 |
| `completion`        | the collectives that complete results, in programs with reshards     |
| `unreduced`         | completion and introduction of unreduced axes                        |
| `planned_partial`   | the partial results that a plan has chosen                           |
| `joint_sums`        | sums of several results, which may stay partial until they are added |

The cost of a completion is in `resharding.completions`, and its local form in `local.completing`.
"""
