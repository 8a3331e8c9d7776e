# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Views of constants and comparisons."""

from __future__ import annotations

from pyshardy.irtools.stablehlo_views.fields import (
    EnumCase,
    Integer,
    OperationView,
    OptionalField,
    Raw,
)


class ConstantView(OperationView):
    """A `stablehlo.constant`, `sdy.constant`, or a constant of another dialect.

    Attributes:
        value: the elements; a `DenseElementsAttr` in StableHLO.
    """

    __slots__ = ()

    value = Raw("value")


class CompareView(OperationView):
    """A `stablehlo.compare`.

    Attributes:
        comparison_direction: `EQ`, `NE`, `GE`, `GT`, `LE` or `LT`.
        compare_type: `FLOAT`, `TOTALORDER`, `SIGNED` or `UNSIGNED`; may be missing.
    """

    __slots__ = ()

    comparison_direction = EnumCase("comparison_direction")
    compare_type = OptionalField(EnumCase("compare_type"))


class CmpiView(OperationView):
    """An `arith.cmpi`.

    Attributes:
        predicate: the number of the comparison.
    """

    __slots__ = ()

    predicate = Integer("predicate")
