# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The loss of connectionist temporal classification, by its forward and backward recurrences.

The labels of a sequence are its targets with blanks around each: `- a - b -`. A path of labels over
time stays, goes to the next label, or skips a blank between different targets.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from mlir_sdy.diagnostics import UsageError, error
from pyshardy.frontends.torch.registry import decomposition

_NONE, _MEAN, _SUM = range(3)
_REDUCTIONS = {"none": _NONE, "mean": _MEAN, "sum": _SUM}


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: int | str = _MEAN,
    zero_infinity: bool = False,
) -> Tensor:
    """Return what `torch.ctc_loss` returns, by an operation whose results have known shapes."""
    reduction = _REDUCTIONS[reduction] if isinstance(reduction, str) else reduction
    if targets.dim() == 1 and log_probs.dim() > 2:
        targets = _rows(targets, target_lengths)
    batched = log_probs if log_probs.dim() > 2 else log_probs.unsqueeze(1)
    targets = targets if targets.dim() > 1 else targets.unsqueeze(0)
    times, counts = (_tensor(each).reshape(-1) for each in (input_lengths, target_lengths))
    losses, _ = _operation()(batched, targets, times, counts, blank, zero_infinity)
    if zero_infinity:
        losses = torch.where(torch.isinf(losses), 0.0, losses)
    if reduction == _MEAN:
        return torch.mean(losses / torch.clamp(counts, min=1))
    if reduction == _SUM:
        return torch.sum(losses)
    return losses if log_probs.dim() > 2 else losses.squeeze(0)


@functools.cache
def _operation() -> Any:
    """Register the operation and its gradient, and return it; `DECOMPOSITIONS` computes them."""
    types = "Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths"
    library = torch.library.Library("pyshardy", "FRAGMENT")
    library.define(f"ctc_loss({types}, int blank, bool zero_infinity) -> (Tensor, Tensor)")
    library.define(
        f"ctc_loss_backward(Tensor grad, {types}, int blank, bool zero_infinity, "
        "Tensor neg_log_likelihood, Tensor log_alpha) -> Tensor"
    )
    _LIBRARIES.append(library)
    operations = torch.ops.pyshardy

    def types_of(log_probs: Tensor, targets: Tensor, *_: Any) -> tuple[Tensor, Tensor]:
        times, batch, _classes = log_probs.shape
        places = 2 * targets.shape[1] + 1
        return log_probs.new_empty(batch), log_probs.new_empty(batch, times, places)

    def types_of_gradient(_: Tensor, log_probs: Tensor, *__: Any) -> Tensor:
        return torch.empty_like(log_probs)

    torch.library.register_fake("pyshardy::ctc_loss", types_of, lib=library)
    torch.library.register_fake("pyshardy::ctc_loss_backward", types_of_gradient, lib=library)

    def keep(ctx: Any, inputs: Any, output: Any) -> None:
        *tensors, ctx.blank, ctx.zero_infinity = inputs
        ctx.save_for_backward(*tensors, *output)

    def differentiate(ctx: Any, gradient: Tensor, _: Tensor) -> Any:
        *given, likelihood, paths = ctx.saved_tensors
        options = ctx.blank, ctx.zero_infinity
        result = operations.ctc_loss_backward(gradient, *given, *options, likelihood, paths)
        return result, *[None] * 5

    torch.library.register_autograd(
        "pyshardy::ctc_loss", differentiate, setup_context=keep, lib=library
    )
    return operations.ctc_loss


_LIBRARIES: list[Any] = []
"""The registered libraries, kept alive: PyTorch unregisters operations with their library."""


@decomposition("pyshardy.ctc_loss")
def _ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    times: Tensor,
    targets_of: Tensor,
    blank: int,
    _zero_infinity: bool,
) -> tuple[Tensor, Tensor]:
    """Return the negative logarithms of likelihoods, and of the paths up to each label."""
    labels, may_skip = _labels(targets, blank)
    emitted = _emitted(log_probs, labels)
    place = torch.arange(labels.shape[1])
    is_first = (place == 0) | ((place == 1) & (targets_of.unsqueeze(1) > 0))
    paths = torch.where(is_first, emitted[0], -torch.inf)

    def step(paths: Tensor, emitted: Tensor, may_skip: Tensor) -> Any:
        skipped = torch.where(may_skip, _shifted(paths, 2), -torch.inf)
        result = _log_of_sum(paths, _shifted(paths, 1), skipped) + emitted
        return result, result.clone()

    log_alpha = _scanned(step, paths, emitted[1:], may_skip).transpose(0, 1)
    last = (times - 1).reshape(-1, 1, 1).expand(-1, 1, labels.shape[1])
    at_end = torch.gather(log_alpha, 1, last).squeeze(1)
    ends = torch.gather(at_end, 1, (2 * targets_of).unsqueeze(1)).squeeze(1)
    before = torch.gather(at_end, 1, torch.clamp(2 * targets_of - 1, min=0).unsqueeze(1)).squeeze(1)
    before = torch.where(targets_of > 0, before, -torch.inf)
    return -_log_of_sum(ends, before), log_alpha


@decomposition("pyshardy.ctc_loss_backward")
def _ctc_loss_backward(
    grad: Tensor,
    log_probs: Tensor,
    targets: Tensor,
    times: Tensor,
    targets_of: Tensor,
    blank: int,
    zero_infinity: bool,
    neg_log_likelihood: Tensor,
    log_alpha: Tensor,
) -> Tensor:
    """Return the gradients of logarithms of probabilities."""
    labels, may_skip = _labels(targets, blank)
    emitted = _emitted(log_probs, labels)
    place, time = torch.arange(labels.shape[1]), torch.arange(emitted.shape[0])
    distance = 2 * targets_of.unsqueeze(1) - place
    is_last = (distance == 0) | ((distance == 1) & (targets_of.unsqueeze(1) > 0))
    # A path ends at the last time of its sequence; before, it has come from the next time.
    ends = torch.where(
        is_last & (time.reshape(-1, 1, 1) == (times - 1).reshape(-1, 1)), 0.0, -torch.inf
    )

    def step(paths: Tensor, ends: Tensor, emitted: Tensor, may_skip: Tensor) -> Any:
        skipped = _shifted(torch.where(may_skip, paths, -torch.inf), -2)
        result = _log_of_sum(paths, _shifted(paths, -1), skipped, ends.to(paths.dtype)) + emitted
        return result, result.clone()

    nothing = torch.full_like(emitted[0], -torch.inf)
    reverse = torch.flip(ends, (0,)), torch.flip(emitted, (0,))
    log_beta = torch.flip(_scanned_all(step, nothing, reverse, may_skip), (0,))
    both = log_alpha.transpose(0, 1) + log_beta
    largest = torch.amax(both, 2, keepdim=True)
    finite = torch.where(torch.isinf(largest), 0.0, largest)
    is_label = (labels.unsqueeze(2) == torch.arange(log_probs.shape[2])).to(both.dtype)
    of_class = torch.einsum("tns,nsc->tnc", torch.exp(both - finite), is_label)
    likelihood = neg_log_likelihood.reshape(1, -1, 1)
    expected = torch.where(of_class > 0, of_class * torch.exp(finite + likelihood - log_probs), 0.0)
    result = (torch.exp(log_probs) - expected) * grad.reshape(1, -1, 1)
    is_inside = time.reshape(-1, 1, 1) < times.reshape(1, -1, 1)
    if zero_infinity:
        is_inside = is_inside & ~torch.isinf(likelihood)
    return torch.where(is_inside, result, 0.0)


def _tensor(lengths: Any) -> Tensor:
    if isinstance(lengths, torch.Tensor):
        return lengths.long()
    return torch.cat([torch.full((1,), each) for each in lengths])


def _labels(targets: Tensor, blank: int) -> tuple[Tensor, Tensor]:
    """Return the labels of sequences, and whether a path may skip the label before."""
    count = targets.shape[1]
    blanks = torch.full_like(targets, blank)
    between = torch.stack((blanks, targets), 2).reshape(targets.shape[0], 2 * count)
    labels = torch.cat((between, torch.full_like(targets[:, :1], blank)), 1)
    two_before = torch.cat((torch.full_like(labels[:, :2], blank), labels[:, :-2]), 1)
    place = torch.arange(2 * count + 1)
    return labels.long(), (labels != two_before) & (place % 2 == 1) & (place > 1)


def _rows(targets: Tensor, lengths: Sequence[int]) -> Tensor:
    """Return the targets of each sequence, which are concatenated, with zeros behind."""
    if isinstance(lengths, torch.Tensor):
        message = "the targets of 'ctc_loss' are in one row, and their lengths aren't numbers"
        raise UsageError(error(f"{message}; give a matrix with a row for each sequence"))
    rows: list[Tensor] = []
    start = 0
    for length in lengths:
        row = targets[start : start + length]
        rows.append(torch.nn.functional.pad(row, (0, max(1, *lengths) - length)))
        start += length
    return torch.stack(rows)


def _emitted(log_probs: Tensor, labels: Tensor) -> Tensor:
    """Return the logarithms of the probabilities of the labels at each time."""
    return torch.gather(log_probs, 2, labels.unsqueeze(0).expand(log_probs.shape[0], -1, -1))


def _shifted(paths: Tensor, by: int) -> Tensor:
    """Return values of labels that are some places before."""
    nothing = torch.full_like(paths[:, : abs(by)], -torch.inf)
    if by > 0:
        return torch.cat((nothing, paths[:, :-by]), 1)
    return torch.cat((paths[:, -by:], nothing), 1)


def _log_of_sum(*terms: Tensor) -> Tensor:
    """Return the logarithm of a sum, given the logarithms of its terms."""
    stacked = torch.stack(terms)
    largest = torch.amax(stacked, 0)
    finite = torch.where(torch.isinf(largest), 0.0, largest)
    return torch.log(torch.sum(torch.exp(stacked - finite), 0)) + finite


def _scanned(step: Any, first: Tensor, elements: Tensor, constant: Tensor) -> Tensor:
    """Return a value, and those of a recurrence that begins with it."""
    if elements.shape[0] == 0:
        return first.unsqueeze(0)
    return torch.cat((first.unsqueeze(0), _scanned_all(step, first, (elements,), constant)))


def _scanned_all(
    step: Any, first: Tensor, elements: tuple[Tensor, ...], constant: Tensor
) -> Tensor:
    """Return the values of a recurrence."""
    from torch._higher_order_ops.scan import scan_op  # noqa: PLC0415

    _, values = scan_op(step, [first.clone()], [*elements], (constant,))
    return values
