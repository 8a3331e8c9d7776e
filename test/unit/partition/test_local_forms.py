# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each operation that rules know has a local form, or a reason why it has none."""

from pyshardy.irtools.static_shapes import FORMS as STATIC_FORMS
from pyshardy.partition.op_facts.record import record_of
from pyshardy.rules import registered_names

HOLDING_OTHERS = {"builtin.module", "func.func"}
SAYING_SOMETHING = {"sdy.data_flow_edge", "sdy.func_data_flow_edge", "sdy.mesh"}
COMPUTED_WHOLE = {
    "arith.constant": "constants of StableHLO are cut",
    "chlo.constant": "constants of StableHLO are cut",
    "stablehlo.all_gather": "says what devices do, not what a program does",
    "stablehlo.all_to_all": "says what devices do, not what a program does",
    "stablehlo.reduce_scatter": "says what devices do, not what a program does",
    "stablehlo.infeed": "what comes in from outside is whole",
    "stablehlo.outfeed": "what goes out is whole",
    "stablehlo.recv": "what comes in from outside is whole",
    "stablehlo.send": "what goes out is whole",
    "stablehlo.get_tuple_element": "tuples have no shardings",
    "stablehlo.tuple": "tuples have no shardings",
}
MADE_SYNCHRONOUS = {"stablehlo.async_done", "stablehlo.async_start"}
WITHOUT_DIMENSIONS = {
    "stablehlo.after_all",
    "stablehlo.create_token",
    "stablehlo.partition_id",
    "stablehlo.replica_id",
}


def test_every_operation():
    found = {name for name in registered_names() if record_of(name).local_form is None}
    assert found == {
        *HOLDING_OTHERS,
        *SAYING_SOMETHING,
        *COMPUTED_WHOLE,
        *WITHOUT_DIMENSIONS,
        *STATIC_FORMS,
        *MADE_SYNCHRONOUS,
    }
