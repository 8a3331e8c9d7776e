#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The time of `sdy.torch.trace`, against `torch.export` alone and with `run_decompositions`.

python bench/torch_tracing.py --layers=64
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

import pyshardy as sdy


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


def seconds(function: Callable[[], Any], repetitions: int) -> float:
    """Return the least time of several calls."""
    times: list[float] = []
    for _ in range(repetitions):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--layers", type=int, default=64)
    parser.add_argument("--repetitions", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    inputs = torch.zeros(2, 8, dtype=torch.int64), torch.zeros(8, 8)
    sdy.torch.trace(Model(1), *inputs)  # imports
    model = Model(options.layers)

    def export() -> torch.export.ExportedProgram:
        return torch.export.export(model, inputs, strict=False)

    nodes = len(export().graph.nodes)
    alone = seconds(export, options.repetitions)
    decomposed = seconds(lambda: export().run_decompositions(), options.repetitions)
    traced = seconds(lambda: sdy.torch.trace(model, *inputs), options.repetitions)
    print(f"{options.layers} layers, {nodes} operations")
    print(f"torch.export                      {alone:6.2f} s")
    print(f"torch.export, run_decompositions  {decomposed:6.2f} s   {decomposed / alone:.2f}")
    print(f"sdy.torch.trace                   {traced:6.2f} s   {traced / alone:.2f}")


if __name__ == "__main__":
    main()
