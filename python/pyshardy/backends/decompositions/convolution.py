# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions of any layout as those of one."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.backends.decompositions.products import added_up_wide, is_narrow
from pyshardy.backends.decompositions.registry import decomposition
from pyshardy.backends.decompositions.tensors import Tensor
from pyshardy.irtools.stablehlo_views import ConvolutionView


@decomposition("convolution")
def decompose_convolution(operation: ir.Operation) -> list[Tensor] | None:
    """Operands and result are transposed to `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`.

    Products of narrow floating-point numbers are added up in f32.
    """
    numbers = ConvolutionView(operation).dimension_numbers
    data, kernel = map(Tensor, operation.operands)
    result = Tensor(operation.result)
    to_data = [
        numbers.input_batch_dimension,
        *numbers.input_spatial_dimensions,
        numbers.input_feature_dimension,
    ]
    to_kernel = [
        *numbers.kernel_spatial_dimensions,
        numbers.kernel_input_feature_dimension,
        numbers.kernel_output_feature_dimension,
    ]
    to_result = [
        numbers.output_batch_dimension,
        *numbers.output_spatial_dimensions,
        numbers.output_feature_dimension,
    ]
    in_order = list(range(data.rank))
    if to_data == to_kernel == to_result == in_order and not is_narrow(data):
        return None
    spatial = ", ".join(map(str, range(data.rank - 2)))
    within = f"{spatial}, " if spatial else ""
    ordered = ir.Attribute.parse(f"#stablehlo.conv<[b, {within}f]x[{within}i, o]->[b, {within}f]>")
    convolved = added_up_wide(
        "convolution",
        (data.transpose(*to_data), kernel.transpose(*to_kernel)),
        result.with_shape([result.shape[dim] for dim in to_result]),
        {**dict(operation.attributes.items()), ConvolutionView.dimension_numbers.name: ordered},
    )
    return [convolved.transpose(*(to_result.index(dim) for dim in in_order))]
