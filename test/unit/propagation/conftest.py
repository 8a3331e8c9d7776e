# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fixtures of the tests of propagation: programs as text, and what became of their shardings."""

from dataclasses import dataclass

import pytest

from mlir_sdy.assembly import parse
from mlir_sdy.dialect import Context
from mlir_sdy.host import ir
from mlir_sdy.values import argument_shardings, get_sharding, result_shardings
from pyshardy.pipeline import run_pipeline
from pyshardy.propagation.debugging.explanation import Propagation
from pyshardy.propagation.driver import STRATEGIES, Hierarchy, propagate
from pyshardy.propagation.options import PropagationSettings

MESH = 'sdy.mesh @m = <["a"=2, "b"=2, "c"=4, "p"=8]>'


@pytest.fixture(scope="session")
def context():
    """One context for all tests: they don't change it."""
    return Context()


def said(sharding):
    """A sharding without its mesh, or what stands for none."""
    return "none" if sharding is None else str(sharding)[len("<@m, ") : -1]


@dataclass
class Outcome:
    """A module after propagation, and the record of it where there is one."""

    module: ir.Module
    record: Propagation | None = None

    @property
    def main(self):
        return next(
            view.operation
            for view in self.module.body.operations
            if view.operation.name == "func.func"
        )

    @property
    def arguments(self):
        return [said(sharding) for sharding in argument_shardings(self.main)]

    @property
    def results(self):
        return [said(sharding) for sharding in result_shardings(self.main)]

    def values(self, name):
        """The results of all operations of a name."""
        found = []

        def collect(operation):
            if operation.name == name:
                found.extend(operation.results)
            return ir.WalkResult.ADVANCE

        self.module.operation.walk(collect, ir.WalkOrder.PRE_ORDER)
        return found

    def of(self, name):
        """The shardings of the results of all operations of a name."""
        return [said(get_sharding(value)) for value in self.values(name)]

    def explain(self, name, index=0):
        return str(self.record.explain(self.values(name)[index]))


@pytest.fixture
def outcome(context):
    """Runs passes on functions, with the mesh `@m` before them."""

    def run(text, pipeline):
        module = parse(f"{MESH}\n{text}", context, "t.mlir")
        run_pipeline(module, pipeline)
        return Outcome(module)

    return run


@pytest.fixture
def recorded(context):
    """Propagates with a record, after other passes."""

    def run(
        text, strategy="aggressive", *, before="", by_operation=False, by_user=False, **options
    ):
        module = parse(f"{MESH}\n{text}", context, "t.mlir")
        if before:
            run_pipeline(module, before)
        record = Propagation()
        hierarchy = Hierarchy(STRATEGIES[strategy], by_operation, by_user)
        propagate(module, hierarchy, PropagationSettings(**options), [record])
        return Outcome(module, record)

    return run
