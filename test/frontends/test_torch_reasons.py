# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Why values of a model of PyTorch are replicated."""

import torch
from torch import nn

import pyshardy as sdy

MEGATRON = {
    "*linear1.weight": ("model", None),
    "*linear2.weight": (None, "model"),
    "src": ("data", None, None),
}


def test_the_weight_of_a_norm_of_an_encoder():
    layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
    encoder = nn.TransformerEncoder(layer, 2).eval()
    mesh = sdy.Mesh({"data": 2, "model": 2})
    explained = sdy.explain(encoder, torch.ones(8, 4, 32), mesh=mesh, in_shardings=MEGATRON)
    answer = explained.value("layers.0.norm1.weight")
    lines = str(answer).splitlines()
    assert lines[0] == "layers.0.norm1.weight: no sharding"
    assert 'not by "data", "model": no value that it is tied to has it' in lines[1]
    assert len(lines) <= 12
    assert "shard dimension 0 of layers.0.norm1.weight" in str(answer)
    assert all(each.kind == "unoffered" and each.verify() for each in answer.axes.values())
