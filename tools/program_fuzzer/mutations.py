# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mutations of the text of a program, token by token and line by line.

Most mutations change one place, and the parser rejects most results. Others change all occurrences
of a token, so that many results reach propagation and partitioning.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from program_fuzzer.sources import Sampler

Mutation = Callable[[random.Random, str, str], str]
"""Mutates the first text; the second text is another program, to take tokens from."""

TOKEN = re.compile(
    r'"(?:[^"\\\n]|\\.)*"|%[\w$.-]+(?:[#:]\d+)?|[@#!^][\w$.-]+|[A-Za-z_][\w$.]*'
    r"|-?\d+(?:\.\d+(?:[eE][+-]?\d+)?)?|->|::|\s+|[^\w\s]"
)

_VALUE = re.compile(r"%[\w$.-]+")
_SYMBOL = re.compile(r"@[\w$.-]+")
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?![\w.])")
_DIMENSION = re.compile(r"(?<=[<x])\d+(?=x)")
_ELEMENT_TYPE = re.compile(
    r"(?<=[<x])(?:[su]?i\d+|bf16|f16|f32|f64|f8\w+|f4\w+|complex<\w+>|index)(?=[,>])"
)
_TENSOR = re.compile(r"tensor<[^<>]*(?:<[^<>]*>[^<>]*)*>")
_ATTRIBUTE_NAME = re.compile(r"\b[\w.]+(?= =)")
_DISCARDABLE_VALUE = re.compile(
    r"(?P<key>\b(?:sdy|jax|mhlo)\.[\w.]+ = )"
    r"(?:\"[^\"]*\"|-?\d+ : \w+|\[[^\[\]]*\]|\{[^{}]*\}|true|false|#\w+(?:\.\w+)?<[^<>\n]*>)"
)
_OPERATION_NAME = re.compile(r"(?:stablehlo|sdy|chlo|func|mhlo|shard|arith|math)\.\w+|\breturn\b")
_AXIS = re.compile(r'"\w+"(?::\(\d+\)\d+)?')
_SHARDING = re.compile(r"<@\w+, \[(?:[^\[\]]|\[[^\[\]]*\])*\]>")
_DIMENSION_SHARDING = re.compile(r"\{[^{}\n=]*\}(?:p\d+)?")
_INTEGER_LIST = re.compile(r"(?:array<i64: [-\d, ]+>|\[[-\d, ]+\])")

_NUMBERS = (
    *("0", "1", "2", "3", "4", "5", "6", "7", "8", "12", "16", "-1", "-2", "100", "1000000007"),
    *("4294967296", "9223372036854775807", "-9223372036854775808", "9223372036854775808"),
)
_DIMENSIONS = ("0", "1", "2", "3", "4", "5", "6", "7", "8", "12", "16", "?", "4611686018427387904")
_ELEMENT_TYPES = (
    *("f32", "f64", "f16", "bf16", "i1", "i4", "i8", "i16", "i32", "i64", "ui8", "ui32", "ui64"),
    *("si32", "complex<f32>", "complex<f64>", "f8E4M3FN", "f8E5M2", "index", "f80", "i128", "i2"),
    *("f4E2M1FN", "f8E8M0FNU", "tf32", "i3", "i0", "none", "!quant.uniform<i8:f32, 1.0>"),
)
_KEYS = (
    *("sdy.sharding", "sdy.sharding_rule", "sdy.propagation_edges", "sdy.sharding_origins"),
    *("sdy.original_func_name", "sdy.func_manual_axes", "sdy.origin", "sdy.axis_names"),
    *(
        "jax.result_info",
        "jax.buffer_donor",
        "jax.structure",
        "mhlo.sharding",
        "tf.aliasing_output",
    ),
    *("mhlo.frontend_attributes", "mhlo.num_partitions", "channel_handle", "stablehlo.mesh"),
)
_VALUES = (
    '"text"',
    "1 : i32",
    "[]",
    "{}",
    "unit",
    "@main",
    "f32",
    "true",
    "[1 : i64, 2]",
    '{"a" = 1}',
)
_AXIS_SHAPES = ('"{}":(1)2', '"{}":(2)2', '"{}":(1)4', '"{}":(2)4', '"{}":(1)1', '"{}":(0)2')
_DIMENSION_SHARDINGS = ("{}", "{?}", "{}p0", "{?}p1", '{"x"}', '{"x", ?}', '{"x"}p0', '{"y", "x"}')


def mutated(rng: random.Random, sampler: Sampler) -> str:
    """Return a program of the sampler after one or a few mutations."""
    text = sampler.draw(rng)
    for _ in range(rng.choice((1, 1, 1, 1, 1, 1, 2, 3))):
        mutation = rng.choices(_MUTATIONS, _WEIGHTS)[0]
        text = mutation(rng, text, sampler.draw(rng))
    return text


# --- Tokens ---------------------------------------------------------------------------------------


def _delete_tokens(rng: random.Random, text: str, _: str) -> str:
    tokens = TOKEN.findall(text)
    at = rng.randrange(len(tokens) + 1)
    return "".join([*tokens[:at], *tokens[at + rng.choice((1, 1, 2, 5)) :]])


def _duplicate_token(rng: random.Random, text: str, _: str) -> str:
    tokens = TOKEN.findall(text) or [""]
    at = rng.randrange(len(tokens))
    return "".join([*tokens[:at], tokens[at], *tokens[at:]])


def _swap_tokens(rng: random.Random, text: str, _: str) -> str:
    tokens = TOKEN.findall(text) or [""]
    one, other = rng.randrange(len(tokens)), rng.randrange(len(tokens))
    tokens[one], tokens[other] = tokens[other], tokens[one]
    return "".join(tokens)


def _replace_token(rng: random.Random, text: str, other: str) -> str:
    tokens = TOKEN.findall(text) or [""]
    tokens[rng.randrange(len(tokens))] = rng.choice(TOKEN.findall(rng.choice((text, other))))
    return "".join(tokens)


# --- Tokens of one kind ---------------------------------------------------------------------------


def _swap_within(pattern: re.Pattern[str]) -> Mutation:
    """Replace a match by another match, of the same program or the second program."""

    def mutation(rng: random.Random, text: str, other: str) -> str:
        candidates = pattern.findall(rng.choice((text, text, text, other)))
        return _replace_one(rng, text, pattern, rng.choice(candidates)) if candidates else text

    return mutation


def _replace_by(pattern: re.Pattern[str], replacements: tuple[str, ...]) -> Mutation:
    """Replace a match by one of the replacements."""
    return lambda rng, text, _: _replace_one(rng, text, pattern, rng.choice(replacements))


def _replace_all_by(pattern: re.Pattern[str], replacements: tuple[str, ...]) -> Mutation:
    """Replace all matches that are equal to one of them by the same replacement."""

    def mutation(rng: random.Random, text: str, _: str) -> str:
        found = pattern.findall(text)
        if not found:
            return text
        old, new = rng.choice(found), rng.choice(replacements)
        return pattern.sub(lambda match: new if match[0] == old else match[0], text)

    return mutation


def _replace_one(rng: random.Random, text: str, pattern: re.Pattern[str], replacement: str) -> str:
    matches = list(pattern.finditer(text))
    if not matches:
        return text
    match = rng.choice(matches)
    return text[: match.start()] + replacement + text[match.end() :]


def _exchange(pattern: re.Pattern[str]) -> Mutation:
    """Exchange two different matches, everywhere or from some position on."""

    def mutation(rng: random.Random, text: str, _: str) -> str:
        found = sorted({match[0] for match in pattern.finditer(text)})
        if len(found) < 2:
            return text
        one, other = rng.sample(found, 2)
        swap = {one: other, other: one}
        start = rng.choice((0, rng.randrange(len(text))))
        return text[:start] + pattern.sub(lambda match: swap.get(match[0], match[0]), text[start:])

    return mutation


def _change_discardable(rng: random.Random, text: str, _: str) -> str:
    """Give a discardable attribute a value of another kind, or add one."""
    value = rng.choice(_VALUES)
    matches = list(_DISCARDABLE_VALUE.finditer(text))
    if matches and rng.random() < 0.5:
        match = rng.choice(matches)
        return text[: match.start()] + match["key"] + value + text[match.end() :]
    places = [match.end() for match in re.finditer(r"[^<=]\s\{(?=[a-z])", text)]
    if not places:
        return text
    at = rng.choice(places)
    return f"{text[:at]}{rng.choice(_KEYS)} = {value}, {text[at:]}"


def _change_axis(rng: random.Random, text: str, _: str) -> str:
    axes = _AXIS.findall(text)
    if not axes:
        return text
    name = rng.choice(axes).split('"')[1]
    new = rng.choice((*_AXIS_SHAPES, '"{}"', '"{}", "{}"')).replace("{}", name)
    return _replace_one(rng, text, _AXIS, new)


def _change_dimension_sharding(rng: random.Random, text: str, _: str) -> str:
    found = _DIMENSION_SHARDING.findall(text)
    return _replace_one(rng, text, _DIMENSION_SHARDING, rng.choice((*_DIMENSION_SHARDINGS, *found)))


# --- Lines ----------------------------------------------------------------------------------------


def _delete_lines(rng: random.Random, text: str, _: str) -> str:
    lines = text.splitlines(keepends=True)
    at = rng.randrange(len(lines) + 1)
    return "".join([*lines[:at], *lines[at + rng.choice((1, 1, 1, 2, 4)) :]])


def _move_lines(rng: random.Random, text: str, _: str) -> str:
    """Move a few lines to another place, often in another region or function."""
    lines = text.splitlines(keepends=True)
    start = rng.randrange(len(lines) + 1)
    end = start + rng.choice((1, 1, 1, 2, 3))
    moved, rest = lines[start:end], [*lines[:start], *lines[end:]]
    at = rng.randrange(len(rest) + 1)
    return "".join([*rest[:at], *moved, *rest[at:]])


def _copy_lines(rng: random.Random, text: str, other: str) -> str:
    """Insert a few lines of this or the other program."""
    lines = text.splitlines(keepends=True)
    source = rng.choice((lines, other.splitlines(keepends=True)))
    start = rng.randrange(len(source) + 1)
    at = rng.randrange(len(lines) + 1)
    return "".join([*lines[:at], *source[start : start + rng.choice((1, 1, 3))], *lines[at:]])


def _join_programs(rng: random.Random, text: str, other: str) -> str:
    """Put the functions of two programs into one text."""
    return "".join(rng.sample([text, other], 2))


_WEIGHTED: dict[Mutation, int] = {
    _delete_tokens: 1,
    _duplicate_token: 1,
    _swap_tokens: 1,
    _replace_token: 2,
    _swap_within(_VALUE): 5,
    _exchange(_VALUE): 6,
    _exchange(_SYMBOL): 3,
    _exchange(_DIMENSION): 4,
    _exchange(_ELEMENT_TYPE): 2,
    _exchange(_OPERATION_NAME): 3,
    _exchange(_SHARDING): 6,
    _exchange(_DIMENSION_SHARDING): 6,
    _exchange(_AXIS): 3,
    _swap_within(_SYMBOL): 3,
    _swap_within(_NUMBER): 3,
    _swap_within(_TENSOR): 2,
    _swap_within(_ELEMENT_TYPE): 2,
    _swap_within(_ATTRIBUTE_NAME): 2,
    _swap_within(_OPERATION_NAME): 3,
    _swap_within(_SHARDING): 6,
    _swap_within(_INTEGER_LIST): 2,
    _swap_within(_AXIS): 4,
    _replace_by(_NUMBER, _NUMBERS): 5,
    _replace_all_by(_NUMBER, _NUMBERS): 2,
    _replace_by(_DIMENSION, _DIMENSIONS): 2,
    _replace_all_by(_DIMENSION, _DIMENSIONS): 10,
    _replace_by(_ELEMENT_TYPE, _ELEMENT_TYPES): 1,
    _replace_all_by(_ELEMENT_TYPE, _ELEMENT_TYPES): 8,
    _change_axis: 4,
    _change_discardable: 5,
    _change_dimension_sharding: 16,
    _delete_lines: 3,
    _move_lines: 4,
    _copy_lines: 3,
    _join_programs: 3,
}
_MUTATIONS = list(_WEIGHTED)
_WEIGHTS = list(_WEIGHTED.values())
