# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Library of the importing passes: constants and sharding constraints."""
