# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Symbolic dimensions of JAX, as sizes of a program.

JAX makes a program with `?` for them, which has one scalar argument for each symbol. The sizes of
the other arguments, and what the constraints of their scope say of the symbols, become attributes:

    %x: tensor<?x16xf32> {sdy.sizes = ["4*b", ""]}
    module attributes {sdy.symbols = {b = {min = 2, max = 64, multiple_of = 1}}}
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

from mlir_sdy.discardable import text_of
from mlir_sdy.host import ir
from mlir_sdy.values import interface_attributes
from pyshardy.irtools.stablehlo_views import FunctionView
from pyshardy.sizes.signature import GLOBAL_CONSTANT, entry_of, write_sizes
from pyshardy.sizes.static_program import ASSERTED, assertions_in
from pyshardy.sizes.symbols import SizeSymbol, write_symbols

_NAME = re.compile(r"\b[A-Za-z_]\w*\b(?!\()")
_LIMIT = re.compile(r"\s*(\w+)\s*(>=|<=|==)\s*(\d+)\s*")
_MULTIPLE = re.compile(r"\s*mod\((\w+),\s*(\d+)\)\s*==\s*0\s*")


def annotate_sizes(module: ir.Module, avals: Sequence[Any]) -> None:
    """Give the arguments of a program the sizes that their abstract values have.

    Args:
        module: the program, whose arguments without those for symbols are `avals` in order.
        avals: abstract values of JAX. Nothing changes if none has symbolic dimensions.
    """
    symbolic = [dim for aval in avals for dim in aval.shape if not isinstance(dim, int)]
    if not symbolic:
        return
    main = entry_of(module)
    constants, _ = interface_attributes(main, GLOBAL_CONSTANT)
    own = [index for index, constant in enumerate(constants) if constant is None]
    write_sizes(main, {index: aval.shape for index, aval in zip(own, avals, strict=False)})
    names = dict.fromkeys(_NAME.findall(" ".join(map(str, symbolic))))
    constraints = str(symbolic[0].scope).partition("with constraints:")[2].splitlines()
    messages = [text_of(each, "error_message") or "" for each in assertions_in(module)]
    # A file of `jax.export` has no scope.
    constraints += [each[1] for each in map(ASSERTED.search, messages) if each is not None]
    write_symbols(module, (_symbol_of(each, constraints) for each in names))


def num_symbols(entry: ir.Operation) -> int:
    """Return the number of arguments of a program that are symbols, which come first."""
    return sum(GLOBAL_CONSTANT in each for each in FunctionView(entry).arg_attrs)


def _symbol_of(name: str, constraints: Iterable[str]) -> SizeSymbol:
    """Return a symbol with what simple constraints say of it."""
    low, high, multiple = 1, None, 1
    for constraint in constraints:
        limit, divisor = _LIMIT.fullmatch(constraint), _MULTIPLE.fullmatch(constraint)
        if divisor is not None and divisor[1] == name:
            multiple = math.lcm(multiple, int(divisor[2]))
        if limit is not None and limit[1] == name:
            number = int(limit[3])
            low = max(low, number) if limit[2] in (">=", "==") else low
            high = min(high or number, number) if limit[2] in ("<=", "==") else high
    return SizeSymbol(name, low, high, multiple)
