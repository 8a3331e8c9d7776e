# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations whose shards exchange data with each other.

| module              | what it holds                                                       |
|---------------------|---------------------------------------------------------------------|
| `window`            | what shards of windows cover of the dimension that they move over   |
| `route`             | who sends what to whom                                              |
| `filling`           | what stands around the elements that a device has                   |
| `lanes`             | operations on one dimension, and between the devices along its axes |
| `transfer`          | carrying out a route                                                |
| `form`              | what an operation exchanges and computes, by its name               |
| `rules`             | rules by which tensors agree                                        |
| `agreement`         | along which factors that pays                                       |
| `computation`       | a manual computation in place of an operation                       |
| `windowed`          | the form of all operations that move windows                        |
| `in_shards`         | the forms by which nothing is sent, as local operations             |
| `merging`           | slices that become a part of the operation behind them              |
| `attributes`        | numbers for each dimension                                          |
| `reshape`           | reshapes, whose shards may not hold the same data afterwards        |
| `crossing`          | the ways from the shards before a reshape to those behind it        |
| `reshape_agreement` | what both sides of a reshape are sharded by                         |
| `reshard`           | reshards between pieces of other sizes                              |
| the other ones      | the forms of single operations                                      |
"""

from pyshardy.partition.halo import concatenate as _concatenate  # noqa: F401 (registers)
from pyshardy.partition.halo import convolution as _convolution  # noqa: F401 (registers)
from pyshardy.partition.halo import pad as _pad  # noqa: F401 (registers)
from pyshardy.partition.halo import reduce_window as _reduce_window  # noqa: F401 (registers)
from pyshardy.partition.halo import reverse as _reverse  # noqa: F401 (registers)
from pyshardy.partition.halo import (
    select_and_scatter as _select_and_scatter,  # noqa: F401 (registers)
)
from pyshardy.partition.halo import slices as _slices  # noqa: F401 (registers)
from pyshardy.partition.halo.agreement import axes_of_factors, factors_made_whole, find_exchange
from pyshardy.partition.halo.computation import compute_on_shards
from pyshardy.partition.halo.form import PASSING_ON, ExchangeForm, exchanging_operations, form_of
from pyshardy.partition.halo.in_shards import FormInShards, form_in_shards
from pyshardy.partition.halo.reshape_agreement import cheapest_reshape

__all__ = [
    "PASSING_ON",
    "ExchangeForm",
    "FormInShards",
    "axes_of_factors",
    "cheapest_reshape",
    "compute_on_shards",
    "exchanging_operations",
    "factors_made_whole",
    "find_exchange",
    "form_in_shards",
    "form_of",
]
