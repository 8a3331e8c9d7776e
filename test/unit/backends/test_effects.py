# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Effects that nobody would carry out are refused before a program runs."""

import numpy as np
import pytest

import pyshardy as sdy
from pyshardy.local_program.errors import ExecutionError

PROGRAM = """
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<4xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}]>}})
    -> tensor<4xf32> {{
  %token = stablehlo.after_all : !stablehlo.token
  {effect}
  return %x : tensor<4xf32>
}}
"""
CHANNEL = (
    "channel_handle = #stablehlo.channel_handle<handle = 0, type = {}>, is_host_transfer = true"
)
SEND, RECV = CHANNEL.format(2), CHANNEL.format(3)
EFFECTS = {
    "stablehlo.infeed": '%0:2 = "stablehlo.infeed"(%token) <{infeed_config = ""}> '
    ": (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)",
    "stablehlo.outfeed": '%0 = "stablehlo.outfeed"(%x, %token) <{outfeed_config = ""}> '
    ": (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token",
    "stablehlo.send": f'%0 = "stablehlo.send"(%x, %token) <{{{SEND}}}> '
    ": (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token",
    "stablehlo.recv": f'%0:2 = "stablehlo.recv"(%token) <{{{RECV}}}> '
    ": (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)",
    "my_log": "stablehlo.custom_call @my_log(%x) {has_side_effect = true} : (tensor<4xf32>) -> ()",
}
X = np.arange(4, dtype=np.float32)


def partitioned(effect, context):
    module = sdy.parse(PROGRAM.format(effect=EFFECTS[effect]), context)
    sdy.propagate(module)
    return sdy.partition(module)


@pytest.mark.parametrize("backend", ["interpreter", "jit", "iree", "xla"])
@pytest.mark.parametrize("effect", EFFECTS)
def test_effects_are_refused(context, effect, backend):
    """They have no results that are used, so that nothing would be missed."""
    program = partitioned(effect, context)
    with pytest.raises(ExecutionError, match=effect):
        program.run([X], backend)


def test_the_message_says_where_and_what_to_do(context):
    with pytest.raises(ExecutionError) as failure:
        partitioned("stablehlo.send", context).run([X], "xla")
    (diagnostic,) = failure.value.diagnostics
    assert diagnostic.location.line == 6
    assert diagnostic.message == (
        "XLA can't run 'stablehlo.send': there is no host to exchange data with"
    )
    assert "return it as a result" in diagnostic.notes[0].message


def test_a_function_may_have_the_effect(context):
    log = []
    options = sdy.CompileOptions(custom_calls={"my_log": lambda x: log.append(x.tolist())})
    program = partitioned("my_log", context)
    for backend in ("interpreter", "jit", "xla"):
        log.clear()
        program.run([X], backend, options)
        assert log
