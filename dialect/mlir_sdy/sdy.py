# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The dialect as a Python module, like `mlir.dialects.func` for func.

Operation classes (`sdy.AllGatherOp`), builders (`sdy.all_gather`), attribute classes
(`sdy.TensorShardingAttr`) and enums (`sdy.ReductionOp`).
"""

from mlir_sdy.model import EdgeNodeType, PropagationDirection, ReductionOp  # noqa: F401 (exported)
from mlir_sdy.ods import _sdy_enum_gen as _enums  # (lets builders take enum cases)
from mlir_sdy.ods import _sdy_names_gen as _names
from mlir_sdy.ods._sdy_ops_gen import *  # noqa: F403 (the generated classes and builders)
from mlir_sdy.ods.attributes import *  # noqa: F403 (the generated classes)

__all__: list[str] = []
__all__ += _names.__all__

del _enums, _names
