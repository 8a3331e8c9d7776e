# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients of operations are those of eager PyTorch, in 64 bits and of complex numbers.

`tools/torch_gradients.py` compares all operations of docs/reference/pytorch_operations.md, as
the weekly run does; the tests of a change take a part of them, and those along all dimensions.
"""

import pytest
import torch
from case_counts import cases, spread

import torch_cases
import torch_gradients

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
