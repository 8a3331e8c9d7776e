# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Capacities of symbols: the values for which programs are compiled, which also run smaller ones.

| buckets of a symbol | its capacities                                                             |
|---------------------|----------------------------------------------------------------------------|
| `[1, 4, 16]`        | these                                                                      |
| `[1, 4, 16, ...]`   | these, and above them multiples of the last one                            |
| `"pow2"`            | powers of two                                                              |
| `8`                 | multiples of it                                                            |

A capacity is in the range of its symbol, but for a larger multiple that shards divide.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import EllipsisType
from typing import Any, Literal, TypeAlias, cast

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.suggest import did_you_mean
from pyshardy.sizes.symbols import SizeSymbol, check_name

Bucket: TypeAlias = "Sequence[int | EllipsisType] | Literal['pow2'] | int"

Buckets: TypeAlias = "Mapping[str, Bucket]"


def buckets_of(
    given: Buckets | Bucket | None, symbols: Mapping[str, SizeSymbol]
) -> Mapping[str, Bucket]:
    """Return the buckets of symbols that have some, by name.

    Args:
        given: the buckets by the names of symbols, or those of all; None for no buckets.
        symbols: the symbols by their names.

    Raises:
        UsageError: there is no such symbol, or buckets are of another form.
    """
    if given is None:
        return {}
    buckets: Buckets = given if isinstance(given, Mapping) else dict.fromkeys(symbols, given)
    for name, bucket in buckets.items():
        check_name(name, symbols, "buckets")
        problem = _problem_of(bucket)
        if problem is not None:
            expected = "a list of sizes such as [1, 4, 16], which may end with ..., 'pow2', or a"
            message = f"the buckets of {name}: {problem}; expected {expected} multiple"
            raise UsageError(error(message))
        low, largest = symbols[name].low, within(bucket, symbols[name].low)
        if largest < low:
            message = f"the buckets of {name} end at {largest}, below its least value {low}"
            raise UsageError(error(message))
    return buckets


def capacity(bucket: Bucket, symbol: SizeSymbol, value: int) -> int:
    """Return the capacity for a value.

    Raises:
        UsageError: the value is above all capacities.
    """
    if isinstance(bucket, str):
        return 1 << max(value - 1, 0).bit_length()
    numbers = [bucket] if isinstance(bucket, int) else [n for n in bucket if n is not ...]
    listed = [] if isinstance(bucket, int) else [n for n in numbers if n >= value]
    if listed:
        return listed[0]
    if within(bucket, value) == value:
        return -(-value // numbers[-1]) * numbers[-1]
    message = f"{symbol.name} = {value} is above its largest bucket, {numbers[-1]}"
    advice = f"use buckets={{'{symbol.name}': [..., {value}]}}, or end the list with ... for more"
    raise UsageError(error(f"{message}; {advice}"))


def within(bucket: Bucket, value: int) -> int:
    """Return a value, or the largest capacity if that is smaller."""
    if isinstance(bucket, str | int) or bucket[-1] is ...:
        return value
    return min(value, bucket[-1])


def buckets_in(texts: Sequence[str], what: str) -> dict[str, Bucket]:
    """Return the buckets that the texts of a flag such as `b=4,16,...`, `b=pow2` or `b=*8` give.

    Raises:
        UsageError: a text has another form.
    """
    found: dict[str, Bucket] = {}
    for text in texts:
        name, equals, given = (part.strip() for part in text.partition("="))
        numbers = given.removesuffix("...").rstrip(", ")
        parts = [part.strip() for part in numbers.split(",")]
        if given == "pow2":
            found[name] = "pow2"
        elif given.startswith("*") and given[1:].isdecimal():
            found[name] = int(given[1:])
        elif equals and all(part.isdecimal() for part in parts):
            found[name] = [*map(int, parts), *([...] if given.endswith("...") else [])]
        else:
            message = f"{what}: '{text}' gives no buckets: expected NAME=N,N,... such as b=4,16,64"
            near = did_you_mean(given, ["pow2"]) or ", b=pow2, or b=*8 for multiples of 8"
            raise UsageError(error(f"{message}{near}"))
    return found


def _problem_of(bucket: Any) -> str | None:
    """Return why a value gives no buckets; None if it does."""
    if isinstance(bucket, str):
        return None if bucket == "pow2" else f"'{bucket}'{did_you_mean(bucket, ['pow2'])}"
    if isinstance(bucket, int) and not isinstance(bucket, bool):
        return None if bucket > 0 else f"{bucket} is no multiple"
    if not isinstance(bucket, Sequence):
        return f"got {bucket!r}"
    items = list(cast("Sequence[Any]", bucket))
    sizes = items[:-1] if items and items[-1] is ... else items
    if not sizes or any(not isinstance(n, int) or isinstance(n, bool) or n < 1 for n in sizes):
        return f"got {items}"
    return None if sizes == sorted({*sizes}) else f"{sizes} don't increase"
