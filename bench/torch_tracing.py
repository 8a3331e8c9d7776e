#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The time of `sdy.torch.trace`, against `torch.export` alone and with `run_decompositions`.

    python bench/torch_tracing.py                           # all models
    python bench/torch_tracing.py --layers 64 --models      # one of 64 layers
    python bench/torch_tracing.py --layers --models GPT-2

The models of examples/torch_models need the extra `models`.
"""

from __future__ import annotations

import argparse
import functools
import gc
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

import pyshardy as sdy

ROOT = Path(__file__).resolve().parents[1]


class Layer(nn.Module):
    """A layer of a transformer."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList(nn.RMSNorm(width) for _ in range(2))
        self.query, self.key, self.value, self.out = (
            nn.Linear(width, width, bias=False) for _ in range(4)
        )
        self.gate, self.up = (nn.Linear(width, 2 * width, bias=False) for _ in range(2))
        self.down = nn.Linear(2 * width, width, bias=False)

    def forward(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        """Return the activations after the layer."""
        y = self.norms[0](x)
        split = [
            layer(y).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for layer in (self.query, self.key, self.value)
        ]
        query, key = (self.rotated(each, cos, sin) for each in split[:2])
        attended = nn.functional.scaled_dot_product_attention(query, key, split[2], is_causal=True)
        x = x + self.out(attended.transpose(1, 2).flatten(2))
        y = self.norms[1](x)
        return x + self.down(nn.functional.silu(self.gate(y)) * self.up(y))

    @staticmethod
    def rotated(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        """Return rotary position embeddings."""
        first, second = x.chunk(2, -1)
        return x * cos + torch.cat((-second, first), -1) * sin


class Model(nn.Module):
    """A stack of layers."""

    def __init__(self, layers: int, width: int = 16, heads: int = 2):
        super().__init__()
        self.embedding = nn.Embedding(32, width)
        self.layers = nn.ModuleList(Layer(width, heads) for _ in range(layers))

    def forward(self, tokens: torch.Tensor, angles: torch.Tensor) -> torch.Tensor:
        """Return the activations of tokens."""
        x, cos, sin = self.embedding(tokens), angles.cos(), angles.sin()
        for layer in self.layers:
            x = layer(x, cos, sin)
        return x


@dataclass(frozen=True)
class Row:
    """The times of a model in seconds, the least of several rounds each.

    Attributes:
        name: the name of the model.
        operations: the operations that `torch.export` records.
        first: the first `sdy.torch.trace` of the model.
        exporting: `torch.export`.
        tracing: `sdy.torch.trace`.
        decomposing: `torch.export` with `run_decompositions`; None if it isn't measured.
        ratios: the ratio of `sdy.torch.trace` to `torch.export` in each round, in order of size.
    """

    name: str
    operations: int
    first: float
    exporting: float
    tracing: float
    decomposing: float | None
    ratios: Sequence[float]

    def __str__(self) -> str:
        text = f"{self.name:26} {self.operations:10} {self.first:8.2f} {self.exporting:8.2f}"
        text += f" {self.tracing:8.2f} {self.tracing / self.exporting:6.2f}"
        text += f" {statistics.median(self.ratios):6.2f}"
        text += f" {self.ratios[0]:5.2f} to {self.ratios[-1]:4.2f}"
        return text if self.decomposing is None else f"{text} {self.decomposing:10.2f}"


def measured(
    name: str,
    model: nn.Module,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    repetitions: int,
    *,
    decomposes: bool,
) -> Row:
    """Measure a model; the ways take turns, so that all see the same load of the machine."""

    def export() -> torch.export.ExportedProgram:
        return torch.export.export(model, tuple(args), dict(kwargs), strict=False)

    def trace() -> object:
        return sdy.torch.trace(model, *args, kwargs=kwargs)

    first = seconds(trace)
    count = sum(node.op == "call_function" for node in export().graph.nodes)
    ways: list[Callable[[], object]] = [export, trace]
    if decomposes:
        ways.append(lambda: export().run_decompositions())
    rounds = [[seconds(way) for way in ways] for _ in range(repetitions)]
    exporting, tracing, *others = map(min, zip(*rounds, strict=True))
    ratios = sorted(traced / exported for exported, traced, *_ in rounds)
    return Row(name, count, first, exporting, tracing, *(others or [None]), ratios)


def seconds(function: Callable[[], object]) -> float:
    """Return the time of a call."""
    gc.collect()
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def small_models() -> Mapping[str, Any]:
    """Return the models of `examples/torch_models`; none if their libraries are missing."""
    sys.path.insert(0, str(ROOT / "examples" / "torch_models"))
    try:
        from models import MODELS  # noqa: PLC0415
    except ImportError as missing:
        print(f"without the models of examples/torch_models: {missing}", file=sys.stderr)
        return {}
    return MODELS


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--layers", type=int, nargs="*", default=[2, 12, 32])
    parser.add_argument("--models", nargs="*", help="names of examples/torch_models; all of them")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--decompositions", action="store_true", help="run_decompositions, too")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    decomposes = options.decompositions
    measure = functools.partial(measured, repetitions=options.repetitions, decomposes=decomposes)
    head = f"{'':26} {'operations':>10} {'first':>8} {'export':>8} {'trace':>8} {'ratio':>6}"
    head += f" {'median':>6} {'of rounds':13}"
    print(head + " decomposed" * decomposes)
    inputs = torch.zeros(2, 8, dtype=torch.int64), torch.zeros(8, 8)
    sdy.torch.trace(Model(1), *inputs)  # imports
    for count in options.layers:
        print(measure(f"{count} layers", Model(count), inputs, {}), flush=True)
    found = small_models() if options.models is None or options.models else {}
    for name in options.models or found:
        torch.manual_seed(0)
        model = found[name].make().eval()
        print(measure(name, model, (), found[name].inputs()), flush=True)


if __name__ == "__main__":
    main()
