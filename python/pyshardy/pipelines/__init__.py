# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The named pipelines, each a list of passes."""
