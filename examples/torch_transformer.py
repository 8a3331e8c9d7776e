# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A small transformer of plain `torch.nn`, sharded by the names of its weights."""

import torch
from torch import nn

import pyshardy as sdy


class Block(nn.Module):
    """Attention and two linear layers, each added to what it has got."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """What the block makes of a batch of sequences."""
        y = self.norm1(x)
        split = [self.split(layer(y)) for layer in (self.query, self.key, self.value)]
        attended = nn.functional.scaled_dot_product_attention(*split, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).flatten(2))
        return x + self.mlp(self.norm2(x))

    def split(self, x: torch.Tensor) -> torch.Tensor:
        """Give each head a dimension of its own, in front of the sequence."""
        return x.unflatten(2, (self.heads, -1)).transpose(1, 2)


class Transformer(nn.Module):
    """Guesses the next token of each."""

    def __init__(self, vocabulary: int = 64, width: int = 32, heads: int = 4, layers: int = 2):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.head = nn.Linear(width, vocabulary)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """The score of each token of the vocabulary at each place."""
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


torch.manual_seed(0)
model = Transformer().eval()
tokens = torch.randint(64, (8, 16))

COLUMNS, BIASES, ROWS = ("model", None), ("model",), (None, "model")
traced = sdy.torch.trace(
    model,
    tokens,
    mesh=sdy.Mesh.of({"data": 2, "model": 4}),
    shardings={
        "blocks.*.query.weight": COLUMNS,
        "blocks.*.key.weight": COLUMNS,
        "blocks.*.value.weight": COLUMNS,
        "blocks.*.mlp.0.weight": COLUMNS,
        "blocks.*.mlp.0.bias": BIASES,
        "blocks.*.out.weight": ROWS,
        "blocks.*.mlp.2.weight": ROWS,
        "tokens": ("data", None),
    },
)
sdy.propagate(traced.module)
program = sdy.partition(traced.module)
for one in program.collectives:
    print(f"line {one.location.line}: {one.kind} of {one.nbytes} bytes along {', '.join(one.axes)}")

logits = traced.outputs(program.run(traced.inputs(tokens), backend="xla"))
difference = (logits - model(tokens)).abs().max()
print(f"{len(traced.state)} weights, logits {tuple(logits.shape)}")
print(f"as eager PyTorch to 1e-5: {bool(difference < 1e-5)}")
