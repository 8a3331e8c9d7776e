#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compare the gradients of traced training steps with those of eager PyTorch.

    python tools/torch_gradients.py                    # of the calls in torch_cases.py
    python tools/torch_gradients.py --database         # of the samples that PyTorch tests with
    python tools/torch_gradients.py --database cummax  # of one operation

PyTorch's samples (`op_db`) need the package `expecttest`.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "dialect"), str(ROOT / "python")]

import numpy as np  # noqa: E402
import torch  # noqa: E402
from torch.utils import _pytree as pytree  # noqa: E402

import pyshardy as sdy  # noqa: E402
import torch_cases  # noqa: E402
from pyshardy.program import run_unpartitioned  # noqa: E402

FAST_TO_COMPILE = sdy.CompileOptions(optimization=0)

_RANDOM = (
    "bernoulli",
    "cauchy",
    "dropout",
    "exponential",
    "fractional",
    "geometric",
    "log_normal",
    "lowrank",
    "multinomial",
    "normal_",
    "rrelu",
    "uniform",
)
_DYNAMIC = ("combinations", "masked_select", "sparse")
"""Parts of the names of operations that draw numbers, or whose results have no known shape."""

_SAMPLES = 8
"""The number of samples of one operation."""


@dataclass(frozen=True)
class Case:
    """A call of differentiable tensors.

    Attributes:
        name: the call as text.
        function: the function of the tensors.
        tensors: the values of the tensors.
    """

    name: str
    function: Callable[..., Any]
    tensors: Sequence[torch.Tensor]

    def differentiable(self) -> list[int]:
        """Return the positions of the results that have a gradient."""
        results = self.function(*(each.clone().requires_grad_() for each in self.tensors))
        return [
            place
            for place, result in enumerate(pytree.tree_leaves(results))
            if isinstance(result, torch.Tensor) and result.requires_grad
        ]


@dataclass(frozen=True)
class Outcome:
    """The outcome of a case: a refusal, a difference from eager PyTorch, or neither."""

    case: Case
    refusal: str | None = None
    difference: str | None = None


class Calls(torch.nn.Module):
    """The sum of the results of calls, each element with another weight."""

    def __init__(self, cases: Sequence[Case]):
        super().__init__()
        self.cases = cases
        self.differentiable = [case.differentiable() for case in cases]
        self.inputs = torch.nn.ModuleList(
            torch.nn.ParameterList(torch.nn.Parameter(each.clone()) for each in case.tensors)
            for case in cases
        )

    def forward(self, start: torch.Tensor) -> torch.Tensor:
        """Return the sum, from a tensor without dimensions on."""
        total = start
        for case, inputs, places in zip(self.cases, self.inputs, self.differentiable, strict=True):
            results = pytree.tree_leaves(case.function(*inputs))
            for place in places:
                total = total + _weighted(results[place])
        return total


def _weighted(result: torch.Tensor) -> torch.Tensor:
    parts = torch.view_as_real(result.resolve_conj()) if result.is_complex() else result
    parts = parts.double()
    weights = torch.linspace(1, 2, parts.numel(), dtype=torch.float64).reshape(parts.shape)
    # A gradient of NaN or infinity would hide those of all other cases.
    return torch.sum(torch.where(torch.isfinite(parts), parts, 0) * weights)


def outcomes(cases: Sequence[Case]) -> list[Outcome]:
    """Compare gradients, in one training step if none is refused or wrong."""
    model, start = Calls(cases), torch.zeros((), dtype=torch.float64)
    model(start).backward()
    expected = {
        name: torch.zeros_like(each) if each.grad is None else each.grad
        for name, each in model.named_parameters()
    }
    model.zero_grad(set_to_none=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    try:
        traced = sdy.torch.trace_training(model, None, start, optimizer=optimizer)
        results = run_unpartitioned(traced.module, traced.inputs(start), "xla", FAST_TO_COMPILE)
    except sdy.SdyError as failure:
        if len(cases) == 1:
            return [Outcome(cases[0], refusal=failure.diagnostics[0].message)]
    else:
        found = _differences(model, traced.new_state(results), expected)
        if not found or len(cases) == 1:
            return [Outcome(case, difference=found or None) for case in cases]
    half = len(cases) // 2
    return [*outcomes(cases[:half]), *outcomes(cases[half:])]


def _differences(model: Calls, new: dict[str, Any], expected: dict[str, torch.Tensor]) -> str:
    for name, parameter in model.named_parameters():
        wanted = expected[name].numpy(force=True)
        found = parameter.detach().numpy() - np.asarray(new[name])
        is_known = np.isfinite(parameter.detach().numpy())  # no gradient follows from NaN - NaN
        largest = np.nanmax(np.abs(np.where(np.isfinite(wanted), wanted, 0)), initial=1e-3)
        case = model.cases[int(name.split(".")[1])]
        tolerance = 1e-2 if "float16" in case.name else 1e-6
        close = np.isclose(found, wanted, rtol=tolerance, atol=tolerance * largest, equal_nan=True)
        if (wrong := ~close & is_known).any():
            return f"{name}: {found[wrong][:4]} instead of {wanted[wrong][:4]}"
    return ""


def of_calls(calls: Sequence[str]) -> list[Case]:
    """Return the cases of calls in the form of `torch_cases`, in 64 bits."""
    return [*map(_of_call, calls)]


def _of_call(call: str) -> Case:
    values = {name: _wide(each) for name, each in torch_cases.tensors_of([call]).items()}
    names = [name for name, each in values.items() if _is_differentiable(each)]

    def function(*tensors: torch.Tensor) -> Any:
        given = dict(zip(names, tensors, strict=True))
        # Operations in place can't change parameters.
        clones = {name: each.clone() for name, each in given.items()}
        return torch_cases.evaluate(call, {**values, **clones})

    return Case(call, function, [values[name] for name in names])


def has_gradient(case: Case) -> bool:
    """Whether PyTorch computes a gradient of a case."""
    try:
        total = Calls([case])(torch.zeros((), dtype=torch.float64))
        if total.requires_grad:
            total.backward()
    except (NotImplementedError, RuntimeError):
        return False
    return total.requires_grad


def _is_differentiable(value: torch.Tensor) -> bool:
    return value.is_floating_point() or value.is_complex()


def _wide(value: torch.Tensor) -> torch.Tensor:
    if value.is_complex():
        return value.to(torch.complex128)
    return value.double() if value.is_floating_point() else value


def of_database(names: Sequence[str], dtype: torch.dtype) -> Iterator[tuple[str, list[Case]]]:
    """Yield the cases of each operation in PyTorch's database, by its name."""
    from torch.testing._internal.common_methods_invocations import op_db  # noqa: PLC0415

    for operation in op_db:
        name = f"{operation.name} {operation.variant_test_name}".strip()
        takes = operation.supports_autograd and dtype in operation.supported_backward_dtypes("cpu")
        if not takes or any(part in name for part in (*_RANDOM, *_DYNAMIC)):
            continue
        if not names or operation.name in names:
            samples = [*operation.sample_inputs("cpu", dtype, requires_grad=True)]
            step = max(1, len(samples) // _SAMPLES)
            yield name, [_of_sample(name, operation.op, each) for each in samples[::step]]


def _of_sample(name: str, operation: Callable[..., Any], sample: Any) -> Case:
    leaves, tree = pytree.tree_flatten((sample.input, sample.args, sample.kwargs))
    places = [
        index
        for index, leaf in enumerate(leaves)
        if isinstance(leaf, torch.Tensor) and leaf.requires_grad
    ]

    def function(*tensors: torch.Tensor) -> Any:
        filled = [*leaves]
        for place, tensor in zip(places, tensors, strict=True):
            filled[place] = tensor
        first, args, kwargs = pytree.tree_unflatten(filled, tree)
        return sample.output_process_fn_grad(operation(first, *args, **kwargs))

    text = ", ".join(
        str(list(leaf.shape)) if isinstance(leaf, torch.Tensor) else repr(leaf) for leaf in leaves
    )
    return Case(f"{name}({text})", function, [leaves[place].detach() for place in places])


def main() -> int:
    """Print refusals and differences, and return 1 if there are differences."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--database", action="store_true", help="take PyTorch's own samples")
    parser.add_argument("names", nargs="*", help="operations of the database; by default all")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    families: Any = (
        (name, of_calls(torch_cases.calls_of(text))) for name, text in torch_cases.CALLS.items()
    )
    if arguments.database:
        kinds = torch.float64, torch.complex128
        families = (each for kind in kinds for each in of_database(arguments.names, kind))
    wrong = count = 0
    for name, cases in families:
        found = outcomes([case for case in cases if case.tensors and has_gradient(case)])
        count += len(found)
        print(f"{name}: {len(found)} cases", flush=True)
        for each in found:
            if each.refusal or each.difference:
                wrong += each.difference is not None
                print(f"    {each.case.name}: {each.difference or 'refused: ' + each.refusal}")
    print(f"{count} cases, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
