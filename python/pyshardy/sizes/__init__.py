# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs with dynamic sizes: their sizes as expressions, and their static programs.

| module           | contents                                                                     |
|------------------|------------------------------------------------------------------------------|
| `size`           | sizes as polynomials of symbols                                              |
| `symbols`        | symbols with ranges, divisors and hints; the attribute `sdy.symbols`         |
| `size_reader`    | sizes that scalars and vectors of integers have                              |
| `signature`      | the sizes of arguments, and the values of symbols from shapes                |
| `size_map`       | the sizes of all values, and sizes that have to be equal                     |
| `static_program` | the static program for given sizes                                           |
| `reduce_windows` | windows of dynamic sizes, such as those of cumulative sums                   |
"""

from pyshardy.sizes.size import Size
from pyshardy.sizes.symbols import SizeSymbol

__all__ = ["Size", "SizeSymbol"]
