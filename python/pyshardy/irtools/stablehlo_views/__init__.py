# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Typed views of the attributes of StableHLO, CHLO and func operations.

`PadView(operation).edge_padding_low` reads an attribute as a Python value, and an assignment to it
writes the attribute. Only the views, the builder and the dialect look up attributes by their names;
`mlir_sdy.sdy` has such classes for the operations of the dialect, and `mlir_sdy.discardable` has
functions for discardable attributes.
"""

from pyshardy.irtools.stablehlo_views.collectives import (
    COLLECTIVES,
    AllGatherView,
    AllToAllView,
    BatchNormView,
    CollectiveView,
    ReduceScatterView,
    ReduceView,
    SortView,
    TopKView,
    WindowsView,
)
from pyshardy.irtools.stablehlo_views.elementwise import CmpiView, CompareView, ConstantView
from pyshardy.irtools.stablehlo_views.fields import (
    Field,
    FieldValues,
    OperationView,
    attribute_named,
    set_fields,
)
from pyshardy.irtools.stablehlo_views.functions import (
    INTERFACE,
    CallView,
    CompositeView,
    CustomCallView,
    FunctionView,
    TupleElementView,
    callee_of,
    function_type_of,
    symbol_name,
    target_of,
)
from pyshardy.irtools.stablehlo_views.indexing import (
    BroadcastView,
    ConcatenateView,
    DimensionSizeView,
    DynamicSliceView,
    GatherView,
    IotaView,
    LeadingBroadcastView,
    PadView,
    ReverseView,
    ScatterView,
    SliceView,
    TransposeView,
)
from pyshardy.irtools.stablehlo_views.linear_algebra import (
    CholeskyView,
    ConvolutionView,
    DotView,
    FftView,
    ProductView,
    RaggedDotView,
    TriangularSolveView,
)

__all__ = [
    "COLLECTIVES",
    "INTERFACE",
    "AllGatherView",
    "AllToAllView",
    "BatchNormView",
    "BroadcastView",
    "CallView",
    "CholeskyView",
    "CmpiView",
    "CollectiveView",
    "CompareView",
    "CompositeView",
    "ConcatenateView",
    "ConstantView",
    "ConvolutionView",
    "CustomCallView",
    "DimensionSizeView",
    "DotView",
    "DynamicSliceView",
    "FftView",
    "Field",
    "FieldValues",
    "FunctionView",
    "GatherView",
    "IotaView",
    "LeadingBroadcastView",
    "OperationView",
    "PadView",
    "ProductView",
    "RaggedDotView",
    "ReduceScatterView",
    "ReduceView",
    "ReverseView",
    "ScatterView",
    "SliceView",
    "SortView",
    "TopKView",
    "TransposeView",
    "TriangularSolveView",
    "TupleElementView",
    "WindowsView",
    "attribute_named",
    "callee_of",
    "function_type_of",
    "set_fields",
    "symbol_name",
    "target_of",
]
