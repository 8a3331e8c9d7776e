# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients of operations are those of eager PyTorch, in 64 bits and of complex numbers.

`tools/torch_gradients.py` compares all operations of docs/reference/pytorch_operations.md, as
the weekly run does; the tests of a change take a part of them, and those along all dimensions.
"""

import pytest
import torch
from case_counts import cases, spread
from torch import nn
from torch.utils.checkpoint import checkpoint

import pyshardy as sdy
import torch_cases
import torch_gradients
from pyshardy.program import run_unpartitioned

FAMILIES = {name: torch_cases.calls_of(text) for name, text in torch_cases.CALLS.items()}

WITHOUT_DERIVATIVE = ("_higher_order_ops.while_loop",)
"""The beginnings of calls whose derivatives are refused."""

ALONG = """
    cummax(r,DIM)[0] cummin(r,DIM)[0] cumsum(r,DIM) cumprod(r,DIM) logcumsumexp(r,DIM)
    cumsum(t,DIM) cumprod(t,DIM) sort(r,DIM)[0] topk(r,2,DIM)[0] kthvalue(r,2,DIM)[0]
    median(r,DIM)[0] mode(r,DIM)[0] max(r,DIM)[0] amax(r,DIM) amin(r,DIM) prod(r,DIM) std(r,DIM)
    var(t,DIM) logsumexp(r,DIM) softmax(r,DIM) log_softmax(r,DIM) norm(r,3,DIM)
    linalg.vector_norm(t,2,DIM) renorm(r,2,DIM,1.0) flip(t,(DIM,)) roll(t,1,DIM) diff(t,dim=DIM)
    unbind(t,DIM)[1] select(t,DIM,1) narrow(t,DIM,1,1) gather(r,DIM,r.argsort(DIM))
    take_along_dim(t,r.argsort(DIM),DIM) index_select(t,DIM,torch.tensor([1,1]))
    index_add(t,DIM,torch.tensor([1]),t.narrow(DIM,0,1)) scatter_add(r,DIM,r.argsort(DIM),r*r)
    scatter(t,DIM,r.argsort(DIM),t*t) index_fill(t,DIM,torch.tensor([0]),2.0)
    index_copy(t,DIM,torch.tensor([1]),t.narrow(DIM,0,1)) trapezoid(r,dim=DIM)
    cat((t,t*t),DIM) stack((t,t*t),DIM) nanquantile(r,0.3,DIM) quantile(r,0.7,DIM)
    fft.fft(t,dim=DIM) fft.irfft(t,dim=DIM) repeat_interleave(t,2,DIM) unfold_copy(t,DIM,2,1)
    nn.functional.normalize(r,dim=DIM) nn.functional.cosine_similarity(r,r*r,DIM)
"""
"""Calls along a dimension of `r`, or of complex numbers `t`, both of three dimensions."""


@pytest.fixture(scope="module", autouse=True)
def _complex_numbers():
    """Give calls the tensor `t`."""
    before = torch_cases.tensors

    def tensors():
        given = before()
        return {**given, "t": torch.complex(given["r"], given["r"].flip(0))}

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(torch_cases, "tensors", tensors)
        yield


def check(calls):
    calls = [each for each in calls if not each.startswith(WITHOUT_DERIVATIVE)]
    compared = [
        each for each in torch_gradients.of_calls(calls) if torch_gradients.has_gradient(each)
    ]
    found = torch_gradients.outcomes(compared)
    assert [each for each in found if each.refusal or each.difference] == []
    return len(found)


@pytest.mark.parametrize("name", FAMILIES)
def test_operations(name):
    check(spread(FAMILIES[name], 3))


@pytest.mark.parametrize("first", range(min(6, cases(1))))
def test_along_dimensions(first):
    """All six numbers of a dimension in turns, and of each call in the weekly run."""
    calls = [
        call.replace("DIM", str((first + index) % 6 - 3))
        for index, call in enumerate(torch_cases.calls_of(ALONG))
    ]
    calls = spread(calls, 24)
    assert check(calls) == len(calls)


class Bags(nn.Module):
    """Sums in 32 bits, where PyTorch keeps no bags of indices for the gradient."""

    def __init__(self):
        super().__init__()
        self.bag = nn.EmbeddingBag(8, 4, mode="sum")
        self.padded = nn.EmbeddingBag(8, 4, mode="sum", include_last_offset=True, padding_idx=4)
        self.weights = nn.Parameter(torch.rand(6))

    def forward(self, x):
        indices = torch.tensor([1, 2, 4, 5, 4, 3])
        summed = self.bag(indices, torch.tensor([0, 2, 2]), self.weights)
        padded = self.padded(indices, torch.tensor([0, 1, 4, 6]), self.weights)
        return x[:, :1] * (summed + padded)


class Masked(nn.Module):
    def __init__(self):
        super().__init__()
        self.transformer = nn.Transformer(4, 2, 1, 1, 8, 0.0, batch_first=True)

    def forward(self, x):
        mask = nn.Transformer.generate_square_subsequent_mask(3)
        return self.transformer(x, x.flip(0), tgt_mask=mask)


class Checkpoints(nn.Module):
    """A checkpoint with 'use_reentrant' cuts off gradients if no input requires a gradient."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(8, 8) for _ in range(2))

    def forward(self, x):
        first = checkpoint(self.layers[0], x, use_reentrant=True)
        return checkpoint(self.layers[1], self.layers[0](x) + first, use_reentrant=True)


class Blocks(nn.Module):
    """A block of 'no_grad' inside of one of 'autocast'."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, x):
        with torch.autocast("cpu", torch.bfloat16, enabled=False):
            first = self.layer(x)
            with torch.no_grad():
                second = self.layer(x + 1)
            return first * second


@pytest.mark.parametrize(
    ("make", "shape"),
    [(Bags, (3, 8)), (Masked, (3, 3, 4)), (Checkpoints, (3, 8)), (Blocks, (3, 8))],
)
def test_modules(make, shape):
    torch.manual_seed(0)
    model, x, y = make(), torch.randn(shape), torch.randn(())

    def loss(output, target):
        return (output * target * torch.arange(output.numel()).view_as(output)).sum()

    loss(model(x), y).backward()
    traced = sdy.torch.trace_training(
        model, loss, x, y, optimizer=torch.optim.SGD(model.parameters(), 1)
    )
    state = traced.new_state(run_unpartitioned(traced.module, traced.inputs(x, y)))
    for name, parameter in model.named_parameters():
        expected = parameter - parameter.grad
        torch.testing.assert_close(torch.tensor(state[name]), expected, rtol=1e-4, atol=1e-4)
