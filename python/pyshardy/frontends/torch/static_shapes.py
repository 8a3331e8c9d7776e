# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that don't depend on the values of tensors, where PyTorch's do.

Shapes of results do, or checks of arguments. Functions whose types PyTorch refuses only while it
exports are replaced as well (`grouped_products`), and `Tensor.data`, which it doesn't trace.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree

from mlir_sdy.diagnostics import UsageError, error
from pyshardy.frontends.torch import failures
from pyshardy.frontends.torch.connectionist import ctc_loss
from pyshardy.frontends.torch.replacing import Replacements, replaced_attribute


def unique(
    x: torch.Tensor,
    *,
    size: int,
    fill_value: float | None = None,
    return_inverse: bool = False,
    return_counts: bool = False,
) -> Any:
    """Return the sorted distinct elements of a tensor, as many as `size`.

        experts, counts = sdy.torch.unique(indices, size=8, fill_value=-1, return_counts=True)

    Unlike the shape of `torch.unique`, that of the result is known, so that it can be traced.

    Args:
        x: the tensor, which is flattened.
        size: the number of elements to return. Further ones are left out, the largest first.
        fill_value: the elements after the distinct ones; the smallest element by default.
        return_inverse: whether to return the position in the result of each element, too. The
            position of an element that is left out is `size` or larger.
        return_counts: whether to return how often each element occurs, too.
    """
    values, order = torch.sort(x.reshape(-1), stable=True)
    is_new = torch.cat((torch.ones_like(values[:1], dtype=torch.bool), values[1:] != values[:-1]))
    position = torch.cumsum(is_new.long(), 0) - 1
    kept = torch.clamp(position, max=size)  # all that are left out share the last place
    initial = values[:1] if fill_value is None else torch.full_like(values[:1], fill_value)
    result = initial.expand(size + 1).scatter(0, kept, values)[:size]
    results = [result]
    if return_inverse:
        inverse = torch.zeros_like(position).scatter(0, order, position)
        results.append(inverse.reshape(x.shape))
    if return_counts:
        counts = torch.zeros(size + 1, dtype=torch.int64, device=x.device)
        results.append(counts.scatter_add(0, kept, torch.ones_like(kept))[:size])
    return results[0] if len(results) == 1 else tuple(results)


def bincount(
    input: torch.Tensor,
    weights: torch.Tensor | None = None,
    minlength: int = 0,
) -> Any:
    """Return the numbers of occurrences of integers below `minlength`."""
    bins = torch.arange(minlength, device=input.device).unsqueeze(1)
    is_number = input.unsqueeze(0) == bins
    if weights is None:
        return torch.sum(is_number, 1)
    kind = weights.dtype if weights.is_floating_point() else torch.float64
    return torch.sum(torch.where(is_number, weights.to(kind), 0), 1)


def lstsq(
    A: torch.Tensor,
    B: torch.Tensor,
    rcond: float | None = None,
    *,
    driver: str | None = None,
) -> Any:
    """Return the shortest of the least-squares solutions, by a singular value decomposition.

    Residuals, ranks and singular values are returned by the same drivers as in PyTorch.
    """
    rows, columns = A.shape[-2:]
    driver = driver or "gelsy"
    is_vector = B.dim() == A.dim() - 1
    sides = B.unsqueeze(-1) if is_vector else B
    left, values, right = torch.linalg.svd(A, full_matrices=False)
    smallest = torch.finfo(A.dtype).eps * max(rows, columns) if rcond is None else rcond
    is_kept = values > smallest * torch.amax(values, -1, keepdim=True)
    inverse = torch.where(is_kept, 1 / torch.where(is_kept, values, 1), 0)
    solution = right.mH @ (inverse.unsqueeze(-1).to(left.dtype) * (left.mH @ sides))
    residuals, singular = values.new_zeros(0), values.new_zeros(0)
    rank = torch.zeros(0, dtype=torch.int64)
    if driver != "gelsy" and rows > columns:
        residuals = torch.sum(torch.abs(A @ solution - sides) ** 2, -2)
    if driver != "gels":
        rank = torch.sum(is_kept, -1)
    if driver in ("gelsd", "gelss"):
        singular = values.detach()  # PyTorch has no gradient of these
    solution = solution.squeeze(-1) if is_vector else solution
    result: Any = torch.return_types
    return result.linalg_lstsq((solution, residuals, rank, singular))


def quantile(
    input: torch.Tensor,
    q: torch.Tensor | float,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
    ignores_nan: bool = False,
) -> Any:
    """Return quantiles, without checks of their order and of NaN."""
    choices = ("linear", "lower", "higher", "midpoint", "nearest")
    if interpolation not in choices:
        message = f"'{interpolation}' is no interpolation; choose one of {', '.join(choices)}"
        raise UsageError(error(message))
    kept = [1] * input.dim() if dim is None else [*input.shape]
    rows = input.reshape(-1) if dim is None else input.movedim(dim, -1)
    if dim is not None and kept:
        kept[dim] = 1
    ordered = torch.sort(rows.reshape(rows.shape or [1]), -1)[0]
    parts = torch.as_tensor(q, dtype=input.dtype, device=input.device)
    last, nans = ordered.shape[-1] - 1, torch.sum(torch.isnan(ordered), -1, keepdim=True)
    if ignores_nan:
        rank = parts.reshape(-1) * torch.clamp(last - nans, min=0).to(input.dtype)
    else:
        rank = torch.where(nans > 0, last, parts.reshape(-1) * last)  # NaN is the largest number
    rounded = {"lower": torch.floor, "higher": torch.ceil, "nearest": torch.round}
    if interpolation in rounded:
        result = torch.gather(ordered, -1, rounded[interpolation](rank).long())
    else:
        below = torch.floor(rank)
        weight = torch.full_like(rank, 0.5) if interpolation == "midpoint" else rank - below
        low = torch.gather(ordered, -1, below.long())
        high = torch.gather(ordered, -1, torch.ceil(rank).long())
        result = torch.lerp(low, high, weight)
    result = result.movedim(-1, 0)
    shape = kept if keepdim else result.shape[1:]
    return result.reshape([*parts.shape, *shape])


def gaussian_nll_loss(
    input: torch.Tensor,
    target: torch.Tensor,
    var: torch.Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Any:
    """Return the loss of normal distributions, without the check that variances are positive."""
    if not isinstance(var, torch.Tensor):
        var = torch.full_like(input, var)
    if var.shape == input.shape[:-1]:
        var = var.unsqueeze(-1)
    pairs = [*zip(input.shape, var.shape, strict=False)]
    if var.dim() != input.dim() or any(of_var not in (1, size) for size, of_var in pairs):
        raise UsageError(error("'var' of gaussian_nll_loss is of incorrect size"))
    # PyTorch clamps it with the gradient of a variance that isn't clamped.
    variance = torch.where(var < eps, var + (eps - var).detach(), var)
    loss = 0.5 * (torch.log(variance) + (input - target) ** 2 / variance)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    reduce = {"none": torch.clone, "mean": torch.mean, "sum": torch.sum}
    if reduction not in reduce:
        raise UsageError(error(f"'{reduction}' is no reduction; choose none, mean or sum"))
    return reduce[reduction](loss)


def cov(
    input: torch.Tensor,
    *,
    correction: float = 1,
    fweights: torch.Tensor | None = None,
    aweights: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return the covariances of rows, without the checks of weights."""
    rows = input if input.dim() > 1 else input.reshape(1, -1)
    given = [each for each in (fweights, aweights) if each is not None]
    weights = math.prod(given[1:], start=given[0]) if given else torch.ones_like(rows[0].real)
    total = torch.sum(weights)
    degrees = total - correction
    if aweights is not None:
        degrees = total - correction * torch.sum(weights * aweights) / total
    centered = rows - torch.sum(rows * weights, 1, keepdim=True) / total
    products = centered @ (centered * weights).mH
    return (products / torch.clamp(degrees, min=0)).squeeze()


def corrcoef(input: torch.Tensor) -> torch.Tensor:
    """Return the correlations of rows."""
    covariances = cov(input)
    if not covariances.dim():
        return covariances / covariances
    deviations = torch.sqrt(torch.diagonal(covariances).real)
    result = covariances / deviations.unsqueeze(1) / deviations
    if result.is_complex():
        return torch.complex(result.real.clip(-1, 1), result.imag.clip(-1, 1))
    return result.clip(-1, 1)


def set_data(x: torch.Tensor, values: torch.Tensor) -> None:
    """Replace the values of a tensor, as `x.data = values` does."""
    if (x.shape, x.dtype) != (values.shape, values.dtype):
        types = [f"{one.dtype} of shape {tuple(one.shape)}" for one in (x, values)]
        message = f"'data' of a tensor of {types[0]} cannot become a tensor of {types[1]}"
        raise UsageError(error(f"{message} in a traced module; use a new tensor"))
    x.detach().copy_(values)


def _has_minlength(*args: Any, **kwargs: Any) -> bool:
    """Whether a call of `torch.bincount` gives a bound of the values."""
    return bool(kwargs.get("minlength") or (args[2:] and args[2]))


def _has_no_out(*_: Any, **kwargs: Any) -> bool:
    return kwargs.get("out") is None


def _always(*_: Any, **__: Any) -> bool:
    return True


def _in_32_bits(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that has numbers of 32 bits in a block of `torch.autocast`."""

    def converted(tensor: torch.Tensor) -> torch.Tensor:
        return tensor.float() if tensor.dtype in (torch.bfloat16, torch.float16) else tensor

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        if torch.is_autocast_enabled("cpu"):
            args, kwargs = pytree.tree_map_only(torch.Tensor, converted, (args, kwargs))
        return function(*args, **kwargs)

    return called


def _replaced() -> Replacements:
    data: Any = torch.Tensor.data
    quantiles = _in_32_bits(quantile)
    nanquantile = _in_32_bits(functools.partial(quantile, ignores_nan=True))
    names = (torch, "_grouped_mm"), (torch.nn.functional, "grouped_mm")  # since PyTorch 2.8, 2.10
    of_groups = {
        getattr(owner, name): (_takes, grouped_mm) for owner, name in names if hasattr(owner, name)
    }
    return {
        **of_groups,
        data.__get__: (_always, torch.Tensor.detach),
        data.__set__: (_always, set_data),
        torch.bincount: (_has_minlength, bincount),
        torch.Tensor.bincount: (_has_minlength, bincount),
        torch.quantile: (_has_no_out, quantiles),
        torch.Tensor.quantile: (_has_no_out, quantiles),
        torch.nanquantile: (_has_no_out, nanquantile),
        torch.Tensor.nanquantile: (_has_no_out, nanquantile),
        torch.cov: (_always, cov),
        torch.Tensor.cov: (_always, cov),
        torch.corrcoef: (_always, corrcoef),
        torch.Tensor.corrcoef: (_always, corrcoef),
        torch.linalg.lstsq: (_always, lstsq),
        torch.nn.functional.gaussian_nll_loss: (_always, gaussian_nll_loss),
        torch.ctc_loss: (_always, _in_32_bits(ctc_loss)),
        torch.nn.functional.ctc_loss: (_always, _in_32_bits(ctc_loss)),
    }


class NeedsValueError(Exception):
    """The code of a module needs the value of a tensor."""


_CONVERSIONS = ("__bool__", "__complex__", "__float__", "__index__", "__int__")


@contextlib.contextmanager
def static_functions(
    module: torch.nn.Module, further: Replacements, note: Callable[[Any, Any], None] | None = None
) -> Iterator[CodeType]:
    """Replace functions that a module calls inside the `with` block.

    The checks of distributions are left out.

    Args:
        module: the module. Only its calls are intercepted, because PyTorch reads thousands of
            attributes of tensors to trace it, which are calls as well.
        further: further functions to replace.
        note: is called with the result of each function, and its argument `requires_grad`.

    Yields:
        The code that calls the `forward` of the module.

    Raises:
        NeedsValueError: in the block, if Python asks for the value of a tensor.
    """
    from torch.distributions import Distribution  # noqa: PLC0415

    replaced = {**_replaced(), **further}
    was_checked = Distribution._validate_args

    class Mode(TorchFunctionMode):
        """Calls functions of this module."""

        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            kwargs = kwargs or {}
            if func in replaced:
                applies, function = replaced[func]
                if applies(*args, **kwargs):
                    return function(*args, **kwargs)
            if getattr(func, "__name__", "") not in _CONVERSIONS:
                result = func(*args, **kwargs)
                if note is not None:
                    note(result, kwargs.get("requires_grad"))
                return result
            try:
                with torch._C.DisableTorchFunction():  # PyTorch's own modes would log a failure
                    return func(*args, **kwargs)
            except RuntimeError as failure:
                if failures.is_data_dependence(failure):
                    # PyTorch prints the graph so far for the failure itself.
                    raise NeedsValueError(str(failure)) from failure
                raise

    forward = module.forward

    def with_replacements(*args: Any, **kwargs: Any) -> Any:
        with Mode():
            return forward(*args, **kwargs)

    functools.update_wrapper(with_replacements, forward)
    Distribution.set_default_validate_args(False)
    try:
        with replaced_attribute(module, "forward", with_replacements):
            yield with_replacements.__code__
    finally:
        Distribution.set_default_validate_args(was_checked)


def grouped_mm(
    mat_a: torch.Tensor,
    mat_b: torch.Tensor,
    offs: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    out_dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """Multiply matrices in groups: of rows, of columns, or of the contracted dimension.

    Args:
        mat_a: the first matrices, `(S, K)` or `(G, M, K)`; `(M, S)` with groups of `S`.
        mat_b: the second ones, `(G, K, N)` or `(K, S)`; `(S, N)` with groups of `S`.
        offs: the end of each group; None if both have a dimension of groups.
        bias: is added to the results.
        out_dtype: the type of the results.
    """
    if offs is None or mat_a.dim() == mat_b.dim() == 3:
        result = torch.bmm(mat_a, mat_b)
    else:
        result = _grouped_mm_operation()(mat_a, mat_b, offs)
    result = result if bias is None else result + bias
    return result if out_dtype is None else result.to(out_dtype)


def _takes(mat_a: Any, mat_b: Any, *_: Any, **__: Any) -> bool:
    """Whether `torch.export` refuses the types of a product that PyTorch computes."""
    return mat_a.dtype == mat_b.dtype and mat_a.dtype in (torch.float32, torch.float16)


@functools.cache
def _grouped_mm_operation() -> Any:
    """Register the operation for matrices in groups, and its gradient, and return it."""
    library = torch.library.Library("pyshardy", "FRAGMENT")
    library.define("grouped_mm(Tensor lhs, Tensor rhs, Tensor offsets) -> Tensor")
    _LIBRARIES.append(library)
    operation = torch.ops.pyshardy.grouped_mm

    def types_of(lhs: torch.Tensor, rhs: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
        groups = offsets.shape if lhs.dim() == rhs.dim() else ()
        return lhs.new_empty(*groups, lhs.shape[-2], rhs.shape[-1])

    def keep(ctx: Any, inputs: Any, output: Any) -> None:  # noqa: ARG001 (the names count)
        ctx.save_for_backward(*inputs)

    def differentiate(ctx: Any, gradient: torch.Tensor) -> Any:
        lhs, rhs, offsets = ctx.saved_tensors
        return operation(gradient, rhs.mT, offsets), operation(lhs.mT, gradient, offsets), None

    name = "pyshardy::grouped_mm"
    torch.library.register_fake(name, types_of, lib=library)
    torch.library.register_autograd(name, differentiate, setup_context=keep, lib=library)
    return operation


_LIBRARIES: list[Any] = []
"""The registered libraries, kept alive: PyTorch unregisters operations with their library."""
