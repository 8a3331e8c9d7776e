# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The orders of imports that CI tries."""

import importlib
import itertools
import sys
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[3] / "tools"


def test_balanced_orders(monkeypatch):
    monkeypatch.syspath_prepend(str(TOOLS))
    module = importlib.import_module("check_import_orders")
    monkeypatch.delitem(sys.modules, "check_import_orders")
    packages = ("a", "b", "c", "d")
    orders = module.balanced_orders(packages)
    assert all(sorted(order) == [*packages] for order in orders)
    assert {order[0] for order in orders} == {*packages}
    adjacent = [pair for order in orders for pair in itertools.pairwise(order)]
    assert sorted(adjacent) == [*itertools.permutations(packages, 2)]
