# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversions between complex numbers and their parts."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.frontends.torch.lowerings.builder import LoweringBuilder, lowering
from pyshardy.irtools.tensor_types import element_type_of, shape_of


@lowering("aten.view_as_complex", "aten.view_as_complex_copy")
def view_as_complex(build: LoweringBuilder, value: ir.Value) -> ir.Value:
    """Take pairs of numbers along the last dimension as complex numbers."""
    shape = shape_of(value.type)
    real, imag = (
        build.reshape(build.slice_dim(value, len(shape) - 1, part, 1), shape[:-1])
        for part in (0, 1)
    )
    return build.complex(real, imag)


@lowering("aten.view_as_real", "aten.view_as_real_copy", "aten._view_as_real_physical")
def view_as_real(build: LoweringBuilder, value: ir.Value) -> ir.Value:
    """Return the parts of complex numbers along a new last dimension."""
    shape = shape_of(value.type)
    parts = [build.reshape(build.part(name, value), [*shape, 1]) for name in ("real", "imag")]
    return build.concatenate(parts, len(shape))


@lowering("aten.complex")
def complex_of_parts(build: LoweringBuilder, real: ir.Value, imag: ir.Value) -> ir.Value:
    """Build complex numbers from their parts."""
    shape = shape_of(build.result_types[0])
    return build.complex(build.expanded(real, shape), build.expanded(imag, shape))


@lowering("aten._conj", "aten._conj_physical", "aten.conj_physical", "aten._conj_copy")
def conjugate(build: LoweringBuilder, value: ir.Value) -> ir.Value:
    """Negate imaginary parts; real numbers stay."""
    if not isinstance(element_type_of(value.type), ir.ComplexType):
        return value
    return build.complex(
        build.part("real", value), build.unary("negate", build.part("imag", value))
    )
