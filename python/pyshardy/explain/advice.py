# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Annotations with which a tensor would take a refused axis.

| reason                                  | advice                                               |
|-----------------------------------------|------------------------------------------------------|
| the dimension is closed                 | open the dimension with `?`                          |
| the axis shards another dimension       | constrain the tensor to have the axis in this one    |
| tensors disagree along the factor       | constrain the tensor to one of the shardings         |
| the axis is replicated, or unreduced    | remove it from that list                             |
| the axis does not divide the dimension  | use another size, or another axis                    |
| different meshes                        | use one mesh                                         |
| full axes only, or one direction only   | change the option, or the barrier                    |
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir_sdy.model import AxisRef, TensorSharding
from pyshardy.propagation.debugging.explanation import Explanation, RefusedAxis
from pyshardy.propagation.debugging.record import Tensor
from pyshardy.propagation.debugging.refusals import Reason


@dataclass(frozen=True, slots=True)
class Advice:
    """A change with which a tensor would take a refused axis.

    Attributes:
        tensor: the tensor to annotate; None if no annotation helps.
        sharding: the sharding for the annotation; None if the existing one has to be edited.
        what: the change, as an imperative clause.
    """

    tensor: Tensor | None
    sharding: TensorSharding | None
    what: str

    def __str__(self) -> str:
        return self.what


def advise(explanation: Explanation, refused: RefusedAxis) -> Advice:
    """Return the change with which a tensor would take a refused axis.

    Args:
        explanation: the explanation of the tensor.
        refused: one of its refused axes.
    """
    target, axis, dim = explanation.tensor, refused.axis, refused.target_dim
    blocker = refused.blocker or target
    wanted = None
    if explanation.sharding is not None:
        wanted = with_axis_on(explanation.sharding, axis, dim)
    constrain = "" if wanted is None else f"constrain {target.description} to {wanted}"
    match refused.reason:
        case Reason.CLOSED:
            return Advice(blocker, None, f"open the dimension of {blocker.description} with '?'")
        case Reason.REPLICATED | Reason.UNREDUCED:
            word = "replicated" if refused.reason is Reason.REPLICATED else "unreduced"
            what = f"remove {axis} from {word}={{...}} of {blocker.description}"
            return Advice(blocker, None, what)
        case Reason.SIZE | Reason.OVERFLOW:
            what = f"give {blocker.description} a size that {axis} divides, or use another axis"
            return Advice(None, None, what)
        case Reason.MESH:
            return Advice(None, None, "shard all tensors of the operation on one mesh")
        case Reason.PART_OF_AXIS:
            return Advice(None, None, "propagate without 'conservative-propagation'")
        case _:
            return Advice(target, wanted, constrain or f"constrain {target.description}")


def with_axis_on(sharding: TensorSharding, axis: AxisRef, dim: int) -> TensorSharding:
    """Return a sharding with an axis moved to the end of a dimension.

    Example: `[{"x"}, {"y"}]` with `x` on dimension 1 is `[{}, {"y", "x"}]`.
    """
    dims = list(sharding.dim_shardings)
    for at, given in enumerate(dims):
        kept = tuple(each for each in given.axes if not each.overlaps(axis))
        dims[at] = given.with_axes((*kept, axis) if at == dim else kept)
    return sharding.with_dims(tuple(dims))
