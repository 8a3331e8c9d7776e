# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Halo exchange: operations whose shards need elements of other shards.

| module          | contents                                                            |
|-----------------|---------------------------------------------------------------------|
| `window`        | the elements of a dimension that a shard of windows covers          |
| `exchange_plan` | the elements that each shard needs, and the shards that send them   |
| `fill_value`    | the values around the elements that a device has                    |
| `device_axis`   | operations on one dimension, and between the devices along its axes |
| `emit_exchange` | the collectives of an exchange plan                                 |
| `form`          | the exchange form of an operation, by its name                      |
| `rules`         | rules of compatible shardings                                       |
| `profitability` | the factors along which an exchange is profitable                   |
| `computation`   | a manual computation in place of an operation                       |
| `windowed`      | the form of all operations with windows                             |
| `in_shards`     | forms without communication, as local operations                    |
| `attributes`    | attributes with a number for each dimension                         |
| `crossing`      | ways from the shards before a reshape to those after it             |
| `reshape_agreement` | compatible shardings of both sides of a reshape                 |
| `reshard`       | reshards between uneven shardings                                   |
| `forms/`        | the forms of single operations                                      |
"""

from pyshardy.partition.halo.computation import replace_with_manual_computation
from pyshardy.partition.halo.form import PASSING_ON, ExchangeForm, exchanging_operations, form_of
from pyshardy.partition.halo.forms import (  # noqa: F401 (register the forms)
    concatenate,
    convolution,
    cumulative,
    pad,
    reduce_window,
    reverse,
    select_and_scatter,
    slices,
)
from pyshardy.partition.halo.in_shards import FormInShards, form_in_shards
from pyshardy.partition.halo.profitability import (
    axes_of_factors,
    factors_to_replicate,
    find_exchange,
)
from pyshardy.partition.halo.reshape_agreement import cheapest_reshape

__all__ = [
    "PASSING_ON",
    "ExchangeForm",
    "FormInShards",
    "axes_of_factors",
    "cheapest_reshape",
    "exchanging_operations",
    "factors_to_replicate",
    "find_exchange",
    "form_in_shards",
    "form_of",
    "replace_with_manual_computation",
]
