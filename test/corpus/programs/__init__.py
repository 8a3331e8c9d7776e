# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs of the corpus, by what they are about."""
