# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention as PyTorch models have it is sharded by data and by model at once.

A layer of Llama sends one all-reduce after attention and one after the MLP, as with the plan of
Megatron-LM, although PyTorch merges batch and heads.
"""

import inspect
from collections import Counter

import pytest
import torch
from case_counts import spread
from torch import nn
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

import pyshardy as sdy
from mlir_sdy.diagnostics import redirect
from pyshardy.frontends.torch.tracing import dense_flex_attention
from pyshardy.program import run_unpartitioned

MESH = sdy.Mesh.of({"data": 4, "model": 2})
BATCH, SEQUENCE, WIDTH, HEADS, VOCABULARY = 8, 6, 32, 8, 24
COLUMNS, ROWS = ("model", None), (None, "model")
SHARDINGS = {
    "*.[qkv]_proj.weight": COLUMNS,
    "*.gate_proj.weight": COLUMNS,
    "*.up_proj.weight": COLUMNS,
    "*.o_proj.weight": ROWS,
    "*.down_proj.weight": ROWS,
    "tokens": ("data", None),
}


def rotate_half(x):
    half = x.shape[-1] // 2
    return torch.cat((-x[..., half:], x[..., :half]), dim=-1)


def repeat_kv(x, count):
    """Repeat each head of keys or values for the queries of its group."""
    batch, heads, length, width = x.shape
    expanded = x[:, :, None, :, :].expand(batch, heads, count, length, width)
    return expanded.reshape(batch, heads * count, length, width)


def eager(q, k, v, mask, groups):
    k, v = repeat_kv(k, groups), repeat_kv(v, groups)
    scores = torch.matmul(q, k.transpose(2, 3)) * q.shape[-1] ** -0.5 + mask
    weights = nn.functional.softmax(scores, dim=-1, dtype=torch.float32).to(q.dtype)
    return torch.matmul(weights, v)


def repeated(q, k, v, mask, groups):
    k, v = repeat_kv(k, groups), repeat_kv(v, groups)
    return nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def causal(q, k, v, mask, groups):
    del mask
    k, v = repeat_kv(k, groups), repeat_kv(v, groups)
    return nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)


def grouped(q, k, v, mask, groups):
    return nn.functional.scaled_dot_product_attention(
        q, k, v, attn_mask=mask, enable_gqa=groups > 1
    )


def merged(q, k, v, mask, groups):
    """Batch and heads merged by the model itself, up to the softmax."""
    batch, heads, length, width = q.shape
    q, k, v = (
        each.reshape(batch * heads, length, width)
        for each in (q, repeat_kv(k, groups), repeat_kv(v, groups))
    )
    bias = mask.expand(batch, heads, length, length).reshape(batch * heads, length, length)
    weights = nn.functional.softmax(
        torch.baddbmm(bias, q, k.transpose(1, 2), alpha=width**-0.5), dim=-1
    )
    return torch.bmm(weights, v).view(batch, heads, length, width)


class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))


class Attention(nn.Module):
    def __init__(self, attend, kv_heads):
        super().__init__()
        self.attend, self.groups = attend, HEADS // kv_heads
        kv_width = WIDTH // self.groups
        self.q_proj = nn.Linear(WIDTH, WIDTH, bias=False)
        self.k_proj = nn.Linear(WIDTH, kv_width, bias=False)
        self.v_proj = nn.Linear(WIDTH, kv_width, bias=False)
        self.o_proj = nn.Linear(WIDTH, WIDTH, bias=False)

    def forward(self, x, cos, sin, mask):
        shape = (*x.shape[:2], -1, WIDTH // HEADS)
        q, k, v = (
            layer(x).view(shape).transpose(1, 2)
            for layer in (self.q_proj, self.k_proj, self.v_proj)
        )
        q, k = (each * cos + rotate_half(each) * sin for each in (q, k))
        attended = self.attend(q, k, v, mask, self.groups)
        return self.o_proj(attended.transpose(1, 2).reshape(*x.shape[:2], -1))


class Layer(nn.Module):
    def __init__(self, attend, kv_heads):
        super().__init__()
        self.norms = nn.ModuleList((Norm(), Norm()))
        self.attention = Attention(attend, kv_heads)
        self.gate_proj = nn.Linear(WIDTH, 2 * WIDTH, bias=False)
        self.up_proj = nn.Linear(WIDTH, 2 * WIDTH, bias=False)
        self.down_proj = nn.Linear(2 * WIDTH, WIDTH, bias=False)

    def forward(self, x, *positions):
        x = x + self.attention(self.norms[0](x), *positions)
        y = self.norms[1](x)
        return x + self.down_proj(nn.functional.silu(self.gate_proj(y)) * self.up_proj(y))


class Llama(nn.Module):
    def __init__(self, attend, kv_heads, layers):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.layers = nn.ModuleList(Layer(attend, kv_heads) for _ in range(layers))
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, tokens):
        half = WIDTH // HEADS // 2
        frequencies = 100.0 ** (-torch.arange(half, dtype=torch.float32) / half)
        angles = torch.outer(torch.arange(SEQUENCE, dtype=torch.float32), frequencies)
        angles = torch.cat((angles, angles), dim=-1)
        mask = torch.triu(torch.full((SEQUENCE, SEQUENCE), -1e9), diagonal=1)[None, None]
        x = self.embedding(tokens)
        for layer in self.layers:
            x = layer(x, angles.cos(), angles.sin(), mask)
        return self.head(x)


TOKENS = torch.arange(BATCH * SEQUENCE).reshape(BATCH, SEQUENCE) % VOCABULARY
TWO_ALL_REDUCES = [("all_reduce", ("model",))] * 2


def trace(model):
    return sdy.torch.trace(model, TOKENS, mesh=MESH, shardings=SHARDINGS)


def trace_decomposed(model, inputs, shardings):
    """Trace products as PyTorch decomposes them, with batch and heads merged."""
    program = torch.export.export(model, (inputs,)).run_decompositions()
    assert any("aten.bmm" in str(node.target) for node in program.graph.nodes)
    return sdy.torch.trace(program, mesh=MESH, shardings=shardings)


def partitioned(traced):
    sdy.propagate(traced.module)
    return sdy.partition(traced.module)


def sent_by(program):
    return [(one.kind, one.axes) for one in program.collectives]


@pytest.mark.parametrize(
    ("attend", "kv_heads", "is_decomposed"),
    [(repeated, 4, False), (causal, 8, True), (grouped, 4, True), (merged, 4, False)],
)
def test_a_layer_sends_two_all_reduces(attend, kv_heads, is_decomposed):
    model = Llama(attend, kv_heads, layers=1)
    traced = trace_decomposed(model, TOKENS, SHARDINGS) if is_decomposed else trace(model)
    assert sent_by(partitioned(traced)) == TWO_ALL_REDUCES


def test_layers_compute_the_same():
    model = Llama(eager, kv_heads=2, layers=2)
    traced = trace(model)
    program = partitioned(traced)
    assert sent_by(program) == TWO_ALL_REDUCES * 2
    logits = traced.outputs(program.run(traced.inputs(TOKENS), backend="xla"))
    torch.testing.assert_close(logits, model(TOKENS), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kv_heads", [8, 2])
def test_a_training_step_sends_two_more(kv_heads):
    """Backwards, one all-reduce before the MLP and one before attention; no q, k or v is sent."""
    model = Llama(eager, kv_heads, layers=1)
    traced = sdy.torch.trace_training(
        model,
        lambda logits, targets: nn.functional.cross_entropy(
            logits.flatten(0, 1), targets.flatten()
        ),
        TOKENS,
        TOKENS,
        optimizer="sgd",
        mesh=MESH,
        shardings={**SHARDINGS, "targets": ("data", None)},
    )
    sent = partitioned(traced).collectives
    along_model = Counter(one.kind for one in sent if "model" in one.axes)
    assert along_model["all_reduce"] == 4
    lines, first = inspect.getsourcelines(Attention)
    in_attention = [
        one.kind
        for one in sent
        if "model" in one.axes
        and one.location is not None
        and first <= one.location.line < first + len(lines)
    ]
    assert in_attention == ["all_reduce"] * 2


def test_weights_of_batched_products_are_not_broadcast():
    class Product(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.randn(1, 8, 6))

        def forward(self, x):
            return torch.matmul(x, self.weight)

    model, x = Product(), torch.randn(4, 2, 3, 8)
    traced = trace_decomposed(model, x, {"x": ("data", *[None] * 3)})
    text = sdy.asm(traced.module)
    assert "stablehlo.broadcast_in_dim" not in text
    assert "batching_dims" not in text
    outputs = traced.outputs(partitioned(traced).run(traced.inputs(x)))
    torch.testing.assert_close(outputs, model(x))


LENGTH = 128
DOCUMENTS, TABLE = torch.arange(LENGTH) // 32, torch.randn(4, LENGTH)


class Flexible(nn.Module):
    """Attention whose scores are modified by a function that may use a parameter."""

    def __init__(self, modify=None, mask=None, *, compiles=False, **options):
        super().__init__()
        torch.manual_seed(0)
        self.layer, self.slopes = nn.Linear(16, 16), nn.Parameter(torch.randn(4))
        self.modify, self.options = modify, options
        self.attention = torch.compile(flex_attention) if compiles else flex_attention
        self.mask = mask and create_block_mask(mask, None, None, LENGTH, LENGTH, device="cpu")

    def forward(self, query, key, value):
        def modify(*args):
            return self.modify(self, *args)

        score_mod = None if self.modify is None else modify
        query = self.layer(query)
        options = {"score_mod": score_mod, "block_mask": self.mask, **self.options}
        return self.attention(query, key, value, **options)


def is_causal(_, __, q, k):
    return q >= k


FLEXIBLE = {
    "causal": {"mask": is_causal, "compiles": True},
    "documents": {"mask": lambda _, __, q, k: DOCUMENTS[q] == DOCUMENTS[k]},
    "slopes": {"modify": lambda model, s, _, h, q, k: s + model.slopes[h] * (q - k)},
    "a table": {"modify": lambda _, s, __, h, ___, k: s + TABLE[h][k]},
    "soft cap": {"modify": lambda _, s, *__: 5 * torch.tanh(s / 5), "mask": is_causal},
    "no key": {"mask": lambda _, __, q, k: (q >= k) & (q > 5), "scale": 0.3},
    "groups": {"mask": is_causal, "enable_gqa": True},
}


@pytest.mark.parametrize("name", spread([*FLEXIBLE], 4))
def test_flexible_attention(name):
    """Its values and gradients; PyTorch has these on GPUs only, or of the dense form."""
    heads = 2 if name == "groups" else 4
    generator = torch.Generator().manual_seed(0)
    query = torch.randn(2, 4, LENGTH, 16, generator=generator)
    key, value = torch.randn(2, 2, heads, LENGTH, 16, generator=generator)
    model = Flexible(**FLEXIBLE[name])
    eager = Flexible(**{**FLEXIBLE[name], "compiles": False})
    loss = nn.functional.mse_loss
    inputs, target = (query, key, value), torch.zeros_like(query)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    remarks = []
    with redirect(remarks.append):
        traced = sdy.torch.trace_training(model, loss, inputs, target, optimizer=optimizer)
    assert "dense meaning" in remarks[0].message
    results = run_unpartitioned(traced.module, traced.inputs(inputs, target), "xla")
    with torch.no_grad():
        expected = loss(eager(*inputs), target).item()
    assert traced.loss(results) == pytest.approx(expected, rel=1e-4)
    with dense_flex_attention(), redirect(remarks.append):
        loss(eager(*inputs), target).backward()
    new = traced.new_state(results)
    for path, parameter in eager.named_parameters():
        if parameter.grad is not None:
            found = parameter.detach() - torch.as_tensor(new[path])
            scale = parameter.grad.abs().max().item()
            torch.testing.assert_close(found, parameter.grad, rtol=1e-3, atol=1e-3 * scale)
