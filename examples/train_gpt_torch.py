# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A small GPT in PyTorch, trained on eight devices, with the losses of eager PyTorch."""

import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"  # before JAX looks for devices

import copy

import torch
from torch import nn

import pyshardy as sdy

VOCABULARY, WIDTH, HEADS, LENGTH, BATCH, STEPS = 32, 32, 4, 16, 8, 20


class Block(nn.Module):
    """Attention and two linear layers, each added to its input."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.query, self.key, self.value, self.out = (
            nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4)
        )
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the output for a batch of sequences."""
        y = self.norm1(x)
        split = [
            layer(y).unflatten(2, (HEADS, -1)).transpose(1, 2)
            for layer in (self.query, self.key, self.value)
        ]
        attended = nn.functional.scaled_dot_product_attention(*split, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).flatten(2))
        return x + self.down(nn.functional.gelu(self.up(self.norm2(x))))


class GPT(nn.Module):
    """Predicts the next token at each position."""

    def __init__(self, layers: int = 1) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.positions = nn.Parameter(0.1 * torch.randn(LENGTH, WIDTH))
        self.blocks = nn.ModuleList(Block() for _ in range(layers))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return the scores of the next tokens."""
        x = self.embedding(tokens) + self.positions
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def loss_of(scores: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Return the mean cross-entropy of all positions."""
    return nn.functional.cross_entropy(scores.flatten(0, 1), labels.flatten())


torch.manual_seed(0)
model = GPT()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.1)
text = torch.arange(2048).square() // 3 % VOCABULARY
starts = torch.randint(len(text) - LENGTH - 1, (STEPS, BATCH))
batches = text[starts[..., None] + torch.arange(LENGTH + 1)]

# 1. Eager PyTorch, on a copy.
eager, eager_losses = copy.deepcopy(model), []
eager_optimizer = torch.optim.AdamW(eager.parameters(), lr=3e-3, weight_decay=0.1)
for batch in batches:
    loss = loss_of(eager(batch[:, :-1]), batch[:, 1:])
    eager_optimizer.zero_grad()
    loss.backward()
    eager_optimizer.step()
    eager_losses.append(loss.item())

# 2. The same step on 4 x 2 devices: tensor parallelism along `model`, and the batch along `data`.
first = batches[0]
traced = sdy.torch.trace_training(
    model,
    loss_of,
    first[:, :-1],
    first[:, 1:],
    optimizer=optimizer,
    mesh=sdy.Mesh.of({"data": 4, "model": 2}),
    shardings={
        "blocks.*.query.weight": ("model", None),
        "blocks.*.key.weight": ("model", None),
        "blocks.*.value.weight": ("model", None),
        "blocks.*.out.weight": (None, "model"),
        "blocks.*.up.weight": ("model", None),
        "blocks.*.up.bias": ("model",),
        "blocks.*.down.weight": (None, "model"),
        "tokens": ("data", None),
        "labels": ("data", None),
        "optimizer.embedding.weight.exp_avg*": ("data", None),  # ZeRO for one of the parameters
    },
)
sdy.propagate(traced.module)
program = sdy.partition(traced.module)

# 3. Train: the state stays on the devices.
arguments, losses = traced.inputs(first[:, :-1], first[:, 1:]), []
results = program.run_sharded(arguments, "xla")
losses.append(traced.loss(results))
for batch in batches[1:]:
    arguments = traced.new_state(results) | traced.batch(batch[:, :-1], batch[:, 1:])
    results = program.run_sharded(arguments, "xla")
    losses.append(traced.loss(results))

# 4. Load the new state into the model and the optimizer.
traced.load(results)
for step in (0, 9, 19):
    print(f"step {step + 1}: loss {losses[step]:.4f}, in eager PyTorch {eager_losses[step]:.4f}")
torch.testing.assert_close(torch.tensor(losses), torch.tensor(eager_losses), rtol=1e-5, atol=1e-5)
for ours, theirs in zip(model.parameters(), eager.parameters(), strict=True):
    torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-4)
print("losses as in eager PyTorch to 1e-5")
