# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Analysis of partitioned programs: communication, trip counts, process groups; runs nothing."""
