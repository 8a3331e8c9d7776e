# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which annotation would let a tensor have an axis that it was refused.

| what is against it                      | what to do                                           |
|-----------------------------------------|------------------------------------------------------|
| a tensor is closed there                | open that dimension, by `?`                          |
| the axis shards another dimension       | constrain the tensor to have it in this one          |
| tensors disagree along the factor       | constrain the tensor to one of them                  |
| the axis is replicated, or unreduced    | take it out of that list                             |
| the axis does not divide what is left   | another size, or another axis                        |
| different meshes                        | one mesh for both                                    |
| only whole axes, or only one direction  | the option, or the barrier, that says so             |
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir_sdy.model import AxisRef, TensorSharding
from pyshardy.propagation.explanation import Explanation, RefusedAxis
from pyshardy.propagation.record import Tensor
from pyshardy.propagation.refusals import Reason


@dataclass(frozen=True, slots=True)
class Advice:
    """What would settle a refusal differently.

    Attributes:
        tensor: the tensor to annotate; None if no annotation helps.
        sharding: the sharding to give to it; None if its text has to be changed by hand.
        what: what to do, a clause.
    """

    tensor: Tensor | None
    sharding: TensorSharding | None
    what: str

    def __str__(self) -> str:
        return self.what


def advise(explanation: Explanation, refused: RefusedAxis) -> Advice:
    """What would let a tensor have an axis that it was refused.

    Args:
        explanation: that of the tensor.
        refused: one of what it was refused.
    """
    target, axis, dim = explanation.tensor, refused.axis, refused.target_dim
    blocker = refused.blocker or target
    wanted = None
    if explanation.sharding is not None:
        wanted = with_axis_on(explanation.sharding, axis, dim)
    constrain = "" if wanted is None else f"constrain {target.description} to {wanted}"
    match refused.reason:
        case Reason.CLOSED:
            return Advice(blocker, None, f"open the dimension of {blocker.description} by '?'")
        case Reason.REPLICATED | Reason.UNREDUCED:
            word = "replicated" if refused.reason is Reason.REPLICATED else "unreduced"
            what = f"take {axis} out of {word}={{...}} of {blocker.description}"
            return Advice(blocker, None, what)
        case Reason.SIZE | Reason.OVERFLOW:
            what = f"give {blocker.description} a size that {axis} divides, or take another axis"
            return Advice(None, None, what)
        case Reason.MESH:
            return Advice(None, None, "put all tensors of the operation on one mesh")
        case Reason.PART_OF_AXIS:
            return Advice(None, None, "propagate without 'conservative-propagation'")
        case _:
            return Advice(target, wanted, constrain or f"constrain {target.description}")


def with_axis_on(sharding: TensorSharding, axis: AxisRef, dim: int) -> TensorSharding:
    """A sharding with an axis at the end of a dimension, and on no other one.

    Example: `[{"x"}, {"y"}]` with `x` on dimension 1 is `[{}, {"y", "x"}]`.
    """
    dims = list(sharding.dim_shardings)
    for at, given in enumerate(dims):
        kept = tuple(each for each in given.axes if not each.overlaps(axis))
        dims[at] = given.with_axes((*kept, axis) if at == dim else kept)
    return sharding.with_dims(tuple(dims))
