# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Passes that make calls of functions of fragments, and decide what these may overwrite.

Each is a function of a module. The file `x_y.py` holds the pass `mpmd-x-y`, which is imported when
first used.
"""

from __future__ import annotations

import sys

from pyshardy.pipeline.pass_package import PassPackage

sys.modules[__name__].__class__ = PassPackage
