# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Passes on the shard dialect.

Each is a function of a module or of a function. The file `x_y.py` holds the pass `x-y`, which
is imported when first used: `passes.shard.x_y(module)`.
"""

from __future__ import annotations

import sys

from pyshardy.pipeline.pass_package import PassPackage

sys.modules[__name__].__class__ = PassPackage
