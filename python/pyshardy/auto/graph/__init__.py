# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program as sites where a strategy is chosen, and the tensors between them.

| module            | contents                                                     |
|-------------------|--------------------------------------------------------------|
| `program_graph`   | a program as choices, and the tensors that flow between them |
| `sites`           | the sites where a strategy is chosen                         |
| `inlined_calls`   | calls whose arguments are no values of their own             |
| `chains`          | chains of elementwise operations                             |
| `partial_values`  | values that may stay partial until a later operation         |
| `partial_results` | strategies with partial operands and results                 |
| `fold`            | equal choices of equal parts                                 |
"""
