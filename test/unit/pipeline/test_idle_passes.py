# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A pass that has nothing to do takes the same time for programs of all sizes."""

import sys
from collections import Counter

import pytest

from mlir_sdy.assembly import parse
from mlir_sdy.host import rewrite
from pyshardy.pipeline import Instrumentation, run_pipeline

READERS = {
    "sdy-flatten-tuples": "reads the names of all operations, as the first pass",
    "sdy-lift-inlined-meshes": "reads all shardings",
    "sdy-user-priority-propagate": "propagates",
    "sdy-close-shardings": "closes what propagation leaves open",
    "sdy-insert-explicit-reshards": "compares the shardings of the tensors of each operation",
    "sdy-convert-global-to-local": "changes all types",
    "sdy-drop-sharding-and-mesh": "removes all shardings",
}
"""The passes that look at operations of the program below, and why."""


def text_of(layers):
    """A chain of products whose shardings are compatible, without constants, calls or regions."""
    lines = [
        'sdy.mesh @mesh = <["x"=2, "y"=2]>',
        'func.func @main(%a0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},',
        "                %w: tensor<8x8xf32>) -> tensor<8x8xf32> {",
    ]
    for layer in range(layers):
        lines += [
            f"  %b{layer} = stablehlo.dot_general %a{layer}, %w, contracting_dims = [1] x [0]"
            " : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>",
            f"  %a{layer + 1} = stablehlo.tanh %b{layer} : tensor<8x8xf32>",
        ]
    return "\n".join([*lines, f"  return %a{layers} : tensor<8x8xf32>", "}"])


class Work(Instrumentation):
    """Counts for each pass the lines of the project that run, and the walks in C++."""

    def __init__(self):
        self.lines: list[tuple[str, int]] = []
        self.walks: Counter[str] = Counter()
        self._count = 0
        self._running = ""

    def before_pass(self, step, module):
        del module
        self._count, self._running = 0, step.argument
        sys.settrace(self._trace)

    def after_pass(self, step, module):
        del module
        sys.settrace(None)
        if step.info is not None:
            self.lines.append((step.argument, self._count))

    def walk(self, *_):
        self.walks[self._running] += 1

    def _trace(self, frame, event, argument):
        del argument
        # Lines of the standard library depend on what it has cached.
        is_ours = "sdy" in frame.f_code.co_filename
        self._count += event == "line" and is_ours
        return self._trace


@pytest.fixture(name="work_in")
def fixture_work_in(context, monkeypatch):
    """A function that runs both pipelines on a program of some layers, and returns the work."""
    walk = rewrite.walk_and_apply_patterns

    def work_in(layers):
        work = Work()

        def counted(*arguments):
            work.walk()
            walk(*arguments)

        module = parse(text_of(layers), context)
        with monkeypatch.context() as patched:
            patched.setattr(rewrite, "walk_and_apply_patterns", counted)
            for pipeline in ("sdy-propagation-pipeline", "sdy-partition-pipeline"):
                run_pipeline(
                    module,
                    pipeline,
                    instrumentation=[work],
                    verify_each=False,
                    verify_analyses=False,
                )
        return work

    before = sys.gettrace()
    yield work_in
    sys.settrace(before)


def test_passes_with_nothing_to_do_do_not_look_at_operations(work_in):
    work_in(2)  # so that what is computed once for a context is known
    small, large = work_in(3), work_in(30)
    assert {name for name, _ in large.lines} >= READERS.keys()
    assert large.walks.keys() <= READERS.keys() | {"canonicalize"}
    grown = {
        name for (name, few), (_, many) in zip(small.lines, large.lines, strict=True) if few != many
    }
    assert grown <= READERS.keys()
    assert "sdy-user-priority-propagate" in grown, "lines are counted"
