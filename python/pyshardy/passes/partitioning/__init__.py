# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Passes that partition a propagated program into one local program.

Each is a function of a module or of a function. The file `x_y.py` holds the pass `sdy-x-y`, which
is imported when first used: `passes.partitioning.x_y(module)`.
"""

from __future__ import annotations

import sys

from pyshardy.pipeline.pass_package import PassPackage

sys.modules[__name__].__class__ = PassPackage
