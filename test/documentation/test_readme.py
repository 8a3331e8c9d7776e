# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Python code of the README and of the landing page runs, with a user's own functions."""

import re
import textwrap
from pathlib import Path

import jax
import jax_devices  # noqa: F401 (JAX gets 8 devices)
import pytest
import torch
from jax import numpy as jnp
from jax.sharding import PartitionSpec as P

import pyshardy as sdy
from pyshardy.cli.examples import copy_examples
from pyshardy.rules import temporary_rules

ROOT = Path(__file__).resolve().parents[2]
_BLOCK = re.compile(r"^( *)```python\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.mlp = torch.nn.ModuleDict({"up": torch.nn.Linear(8, 16)})

    def forward(self, tokens):
        return torch.tanh(self.mlp["up"](tokens))


def names_of_the_user():
    """Return the names that the pages call yours."""
    parameters = {"w": jax.ShapeDtypeStruct((8, 16), jnp.float32)}
    return {
        "step": lambda parameters, batch: {
            "w": parameters["w"] + jnp.mean(batch @ parameters["w"])
        },
        "parameters": parameters,
        "batch": jax.ShapeDtypeStruct((4, 8), jnp.float32),
        "mesh": sdy.Mesh.of({"data": 2, "model": 4}),
        "by_model": P(None, "model"),
        "by_data": P("data"),
        "model": Model(),
        "tokens": torch.ones(4, 8),
    }


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_code_runs(page, tmp_path, monkeypatch):
    copy_examples(tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    blocks = _BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))
    assert len(blocks) >= 2
    names = {"sdy": sdy, **names_of_the_user()}
    with temporary_rules():
        for _, block in blocks:
            exec(textwrap.dedent(block), names)
    assert callable(names.get("step_on_devices", names["step"]))
