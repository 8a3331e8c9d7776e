# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program as sites where a strategy is chosen, and the tensors between them.

| module               | contents                                                     |
|----------------------|--------------------------------------------------------------|
| `program_graph`      | a program as choices, and the tensors that flow between them |
| `sites`              | the sites where a strategy is chosen                         |
| `operation_forms`    | properties of operations, and chains of elementwise ones     |
| `partial_results`    | strategies with partial operands and results                 |
| `late_values`        | values that are not needed before the end of a block         |
| `replaced_arguments` | results that replace arguments in the next step              |
"""
