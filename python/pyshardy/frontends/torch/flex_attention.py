# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`flex_attention` as its dense meaning: all scores, modified and masked by the user's functions.

The structure of a `BlockMask` only says which blocks a kernel may leave out.
"""

# pyright: reportMissingTypeStubs=false, reportPrivateUsage=false, reportUnknownVariableType=false

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

from mlir_sdy.diagnostics import emit, remark
from pyshardy.frontends.torch.replacing import replaced_attribute

_MODULE = "torch.nn.attention.flex_attention"


@contextlib.contextmanager
def dense_flex_attention() -> Iterator[None]:
    """Compute `flex_attention` by its definition inside the `with` block."""
    module: Any = sys.modules.get(_MODULE)  # a user of the function has imported it
    if not hasattr(module, "_FLEX_ATTENTION_DISABLE_COMPILE_DEBUG"):  # before PyTorch 2.8
        yield
        return
    from torch._higher_order_ops.flex_attention import math_attention  # noqa: PLC0415

    def dense(*args: Any, **kwargs: Any) -> Any:
        emit(remark("'flex_attention' is traced as its dense meaning, with all scores in memory"))
        return math_attention(*args, **kwargs)

    with contextlib.ExitStack() as stack:
        for name, value in (
            ("flex_attention_hop", dense),
            ("_FLEX_ATTENTION_DISABLE_COMPILE_DEBUG", True),
            ("_validate_device", _accept),  # kernels for CPUs have no backward
            ("_vmap_for_bhqkv", _as_operations(module._vmap_for_bhqkv)),
        ):
            stack.enter_context(replaced_attribute(module, name, value))
        yield


def _accept(*_: Any) -> None:
    """Accept all devices."""


def _as_operations(vmapped: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that leaves operations on whole tensors in the place of `torch.vmap`.

    `torch.export` keeps nested calls of `torch.vmap`, but not the tensors that they make.
    """
    from torch.fx.experimental.proxy_tensor import (  # noqa: PLC0415
        _temp_remove_pre_dispatch_torch_function_mode,
        disable_proxy_modes_tracing,
        make_fx,
    )

    def with_operations(*args: Any, **kwargs: Any) -> Callable[..., Any]:
        function = vmapped(*args, **kwargs)

        def run(*tensors: Any) -> Any:
            with disable_proxy_modes_tracing(), _temp_remove_pre_dispatch_torch_function_mode():
                graph = make_fx(function)(*tensors)
            return graph(*tensors)

        return run

    return with_operations
