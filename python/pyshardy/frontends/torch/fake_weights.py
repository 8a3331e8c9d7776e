# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules whose weights have no values: on the device `meta`, or under `FakeTensorMode`."""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportMissingTypeStubs=false
# pyright: reportPrivateUsage=false

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.nn.utils import stateless
from torch.utils import _pytree as pytree

from pyshardy.frontends.torch.dtensors import weights_of


@contextlib.contextmanager
def weights_on_cpu(module: torch.nn.Module, inputs: Any) -> Iterator[Any]:
    """Give weights on the device `meta` a CPU as their device, for export, and yield the inputs.

    PyTorch refuses operations on tensors of several devices, such as `meta` and that of a tensor
    that the code makes. The tensors stay without values.

    Args:
        module: the module, which has its own weights again after the `with` block.
        inputs: a tree with its inputs.
    """
    weights = dict(weights_of(module))
    leaves = [leaf for leaf in pytree.tree_leaves(inputs) if isinstance(leaf, torch.Tensor)]
    if not any(_is_on_meta(each) for each in (*weights.values(), *leaves)):
        yield inputs
        return
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    made: dict[int, Any] = {}  # tied weights stay tied

    def on_cpu(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        if id(value) not in made:
            made[id(value)] = _on_cpu(value, mode)
        return made[id(value)]

    replaced = {name: on_cpu(weight) for name, weight in weights.items()}
    with stateless._reparametrize_module(module, replaced):
        yield pytree.tree_map(on_cpu, inputs)


def _is_on_meta(tensor: torch.Tensor) -> bool:
    return tensor.device.type == "meta" and not isinstance(tensor, FakeTensor)


def _on_cpu(tensor: torch.Tensor, mode: Any) -> torch.Tensor:
    if not _is_on_meta(tensor):
        return mode.from_tensor(tensor)
    with mode:
        made = torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype, device="cpu")
        if isinstance(tensor, torch.nn.Parameter):
            return torch.nn.Parameter(made, requires_grad=tensor.requires_grad)
    return made
