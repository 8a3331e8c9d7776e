# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Passes that propagate shardings through fragments, and put them into types.

Each is a function of a module. The file `x_y.py` holds the pass `mpmd-x-y`, which is imported when
first used.
"""

from __future__ import annotations

import sys

from pyshardy.pipeline.pass_package import PassPackage

sys.modules[__name__].__class__ = PassPackage
