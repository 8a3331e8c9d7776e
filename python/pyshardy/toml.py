# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reader of TOML: Python's own from 3.11 on, before that the package from which it comes."""

import sys

if sys.version_info >= (3, 11):
    from tomllib import TOMLDecodeError, loads
else:
    from tomli import TOMLDecodeError, loads

__all__ = ["TOMLDecodeError", "loads"]
