"""A rule and two passes of a user, which fail."""

import pyshardy as sdy
from mlir_sdy.host import ir


@sdy.sharding_rule("stablehlo.custom_call", target="broken")
def broken_rule(operation):
    return {}[operation.name]


@sdy.register_pass("boom", anchor="func.func")
def boom(function: ir.Operation) -> None:
    """Fail in a function of the file."""
    fail(function)


@sdy.register_pass("fail-in-callback", anchor="func.func")
def fail_in_callback(function: ir.Operation) -> None:
    """Fail in a callback of the host."""
    function.operation.walk(fail)


def fail(operation):
    raise ValueError(f"oops at {operation.name}")
