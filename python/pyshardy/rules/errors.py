# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors of sharding rules."""


class RuleError(ValueError):
    """A rule is ill-formed, or does not fit the operation it was given for."""
