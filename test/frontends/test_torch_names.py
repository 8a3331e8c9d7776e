# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random models whose parameters, buffers, modules and inputs have each other's names."""

import copy
import random

import numpy as np
import pytest
import torch
from case_counts import cases
from torch import nn

import pyshardy as sdy
from pyshardy.program import run_unpartitioned

NAMES = (
    *("x", "y", "weight", "bias", "scale", "mask", "seed", "target", "targets", "loss", "labels"),
    *("optimizer", "optimizer_lr", "lr", "input", "training", "result", "arg0", "mask_1", "x_1"),
    *("lifted_tensor_0", "c_scale", "b_mask", "p_weight", "arg0_1", "model", "step", "grad"),
)
SIZE = 4


def random_model(rng):
    """Return a model and its inputs, which are the arguments of `forward` in their order."""
    inputs = rng.sample(NAMES, rng.randint(1, 3))
    members = rng.sample([name for name in NAMES if name != "training"], rng.randint(2, 5))
    kinds = [rng.choice(["parameter", "buffer", "module", "alias"]) for _ in members]
    kinds[0] = "parameter"
    generator = torch.Generator().manual_seed(rng.randrange(1000))

    def numbers():
        return torch.rand(SIZE, generator=generator) + 0.5

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            for name, kind in zip(members, kinds, strict=True):
                if kind == "parameter":
                    self.register_parameter(name, nn.Parameter(numbers()))
                elif kind == "buffer":
                    self.register_buffer(name, numbers())
                elif kind == "alias":
                    self.register_parameter(name, getattr(self, members[0]))
                else:
                    self.add_module(name, nn.Linear(SIZE, SIZE))

        def combined(self, *values):
            result = torch.stack([(k + 1) * value for k, value in enumerate(values)]).sum(0)
            for k, (name, kind) in enumerate(zip(members, kinds, strict=True)):
                member = getattr(self, name)
                result = member(result) if kind == "module" else result * member + k
            return result.tanh()

    namespace = {}
    values = ", ".join(inputs)
    exec(f"def forward(self, {values}):\n    return self.combined({values})", namespace)
    Model.forward = namespace["forward"]
    torch.manual_seed(rng.randrange(1000))
    arguments = [torch.rand(2, SIZE, generator=generator) for _ in inputs]
    return Model(), arguments


@pytest.mark.parametrize("seed", range(cases(2)))
def test_inference(seed):
    model, arguments = random_model(random.Random(seed))
    traced = sdy.torch.trace(model, *arguments)
    assert len({*traced.arguments}) == len(traced.arguments)
    arrays = run_unpartitioned(traced.module, traced.inputs(*arguments))
    torch.testing.assert_close(traced.outputs(arrays), model(*arguments))


@pytest.mark.parametrize("seed", range(cases(2)))
def test_training(seed):
    model, arguments = random_model(random.Random(seed))
    target = torch.rand(2, SIZE)
    eager = copy.deepcopy(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    traced = sdy.torch.trace_training(
        model, nn.functional.mse_loss, tuple(arguments), target, optimizer=optimizer
    )
    assert len({*traced.arguments}) == len(traced.arguments)
    assert len({*traced.results}) == len(traced.results)
    arrays = run_unpartitioned(traced.module, traced.inputs(tuple(arguments), target))
    loss = nn.functional.mse_loss(eager(*arguments), target)
    loss.backward()
    torch.optim.SGD(eager.parameters(), lr=0.1, momentum=0.9).step()
    np.testing.assert_allclose(traced.loss(arrays), loss.item(), rtol=1e-5)
    state = traced.new_state(arrays)
    for name, parameter in eager.named_parameters():
        np.testing.assert_allclose(state[name], parameter.detach(), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    ("shardings", "message"),
    [
        (
            (None, ("data",)),
            r"given by names or patterns of names, as in \{'\w+': \('axis', None\)\}",
        ),
        (
            {"weight": (0, None)},
            "expected the name of an axis, a tuple of names or None, got: 0",
        ),
        ({"weight": ("data",)}, r"its sharding has 1: .*; give None for the others"),
        ({"w*": ("data",)}, r"its sharding has 1: .*; add an earlier pattern for it"),
    ],
)
def test_shardings_of_other_forms_are_refused(shardings, message):
    model, x = torch.nn.Linear(8, 8, bias=False), torch.ones(8, 8)
    with pytest.raises(sdy.UsageError, match=message):
        sdy.torch.trace(model, x, mesh=sdy.Mesh({"data": 4}), shardings=shardings)


@pytest.mark.parametrize("sharding", [("data", None), "[{'data'}, {}]", "P('data', None)"])
def test_a_mesh_by_its_sizes_and_a_sharding_in_each_form(sharding):
    model, x = torch.nn.Linear(8, 8, bias=False), torch.ones(8, 8)
    traced = sdy.torch.trace(model, x, mesh={"data": 4}, shardings={"weight": sharding})
    assert '{sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}' in sdy.asm(traced)
    assert '<["data"=4]>' in sdy.asm(traced)
