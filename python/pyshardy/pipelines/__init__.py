# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The named pipelines: lists of passes, registered when this package is imported."""

from pyshardy.pipelines import (  # noqa: F401 (register pipelines)
    exporting,
    importing,
    partition,
    propagation,
)
