# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations without a local form: their operands and results are replicated."""

from __future__ import annotations

from pyshardy.cost.op_work import no_work
from pyshardy.irtools.static_shapes import CALL
from pyshardy.irtools.static_shapes import FORMS as STATIC_FORMS
from pyshardy.partition.op_facts.record import PartitionRecord

_CONSTANT = PartitionRecord(replicated_because="only constants of StableHLO are sliced")
_ASYNCHRONOUS = PartitionRecord(
    replicated_because="replaced by synchronous operations before partitioning"
)
_COMMUNICATION = PartitionRecord(
    replicated_because="communicates between devices, which a global program does not have"
)
_DYNAMIC = PartitionRecord(
    replicated_because="replaced by static operations before partitioning, if sizes are constant"
)
_DEVICE_ID = PartitionRecord(replicated_because="a scalar has no dimensions", work=no_work)
_STRUCTURE = PartitionRecord(replicated_because="holds other operations", work=no_work)
_SHARDINGS = PartitionRecord(
    replicated_because="only states shardings, and is removed before partitioning"
)
_TOKEN = PartitionRecord(replicated_because="a token has no dimensions")
_TRANSFER = PartitionRecord(
    replicated_because="values from and to other programs have their full sizes"
)
_TUPLE = PartitionRecord(replicated_because="tuples have no shardings", work=no_work)

RECORDS = dict.fromkeys((each for each in STATIC_FORMS if each != CALL), _DYNAMIC) | {
    "arith.constant": _CONSTANT,
    "builtin.module": _STRUCTURE,
    "chlo.constant": _CONSTANT,
    "func.func": _STRUCTURE,
    "sdy.data_flow_edge": _SHARDINGS,
    "sdy.func_data_flow_edge": _SHARDINGS,
    "sdy.mesh": _SHARDINGS,
    "stablehlo.after_all": _TOKEN,
    "stablehlo.all_gather": _COMMUNICATION,
    "stablehlo.all_to_all": _COMMUNICATION,
    "stablehlo.async_done": _ASYNCHRONOUS,
    "stablehlo.async_start": _ASYNCHRONOUS,
    "stablehlo.create_token": _TOKEN,
    "stablehlo.get_tuple_element": _TUPLE,
    "stablehlo.infeed": _TRANSFER,
    "stablehlo.outfeed": _TRANSFER,
    "stablehlo.partition_id": _DEVICE_ID,
    "stablehlo.recv": _TRANSFER,
    "stablehlo.reduce_scatter": _COMMUNICATION,
    "stablehlo.replica_id": _DEVICE_ID,
    "stablehlo.send": _TRANSFER,
    "stablehlo.tuple": _TUPLE,
}
