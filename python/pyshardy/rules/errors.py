# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is wrong with a sharding rule."""


class RuleError(ValueError):
    """A rule is ill-formed, or does not fit the operation it was given for."""
