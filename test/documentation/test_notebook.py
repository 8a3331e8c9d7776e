# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The outputs in the notebooks of the documentation are those of their cells."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_outputs_are_up_to_date():
    command = [sys.executable, str(ROOT / "tools" / "run_notebook.py"), "--check"]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stdout + process.stderr


LAYERS, NUM_WEIGHTS = 8, 4
MLP_MEGABYTES = 59
"""The megabytes that a device sends to gather a weight of the MLP, or to scatter its gradient."""


ACTIVATION_MEGABYTES = 117
"""Those to gather an activation of the batch."""


def plans():
    """The shardings and the collectives, by their kind and size, of the plans of the notebook."""
    text = (ROOT / "docs" / "notebooks" / "memory.md").read_text(encoding="utf-8")
    found = []
    for block in re.findall(r"```text\n(layers.*?)```", text, flags=re.DOTALL):
        shardings = dict(re.findall(r"^(\S+) +(P\(.*\))$", block, flags=re.MULTILINE))
        lines = re.findall(r"^ *(\d+) x (\S+) +(\d+) MB$", block, flags=re.MULTILINE)
        found.append((shardings, {(kind, int(size)): int(times) for times, kind, size in lines}))
    return found


def test_less_memory_leads_from_data_parallelism_to_fsdp_to_tensor_parallelism():
    """The outputs are those of the cells, by the test before."""
    data_parallel, fsdp, tensor_parallel = plans()
    for shardings, sent in (data_parallel, fsdp, tensor_parallel):
        assert shardings["x"] == shardings["y"] == "P('device', None, None)"
        assert {kind for kind, _ in sent} == {"all_gather", "reduce_scatter"}
    gathers = [
        {size: times for (kind, size), times in sent.items() if kind == "all_gather"}
        for _, sent in (data_parallel, fsdp, tensor_parallel)
    ]
    # Each weight of all layers is gathered once.
    assert sum(gathers[0].values()) == NUM_WEIGHTS
    # Those of the MLP are gathered in each layer, forward and backward, and gradients scattered.
    assert gathers[1][MLP_MEGABYTES] >= 2 * 2 * LAYERS
    assert fsdp[1]["reduce_scatter", MLP_MEGABYTES] == 2 * LAYERS
    # Those of the MLP stay sharded along the hidden units; activations are gathered and scattered.
    shardings, sent = tensor_parallel
    assert shardings["layers['up']"] == "P(None, 'device', None)"
    assert shardings["layers['down']"] == "P(None, None, 'device')"
    assert gathers[2].get(MLP_MEGABYTES, 0) < LAYERS
    assert gathers[2][ACTIVATION_MEGABYTES] == 3 * LAYERS
    assert ("reduce_scatter", MLP_MEGABYTES) not in sent
