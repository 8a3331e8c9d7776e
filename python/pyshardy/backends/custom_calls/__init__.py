# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Custom calls that Python functions implement.

| module      | contents                                       |
|-------------|------------------------------------------------|
| `functions` | calls of these functions, checks of the results |
"""
