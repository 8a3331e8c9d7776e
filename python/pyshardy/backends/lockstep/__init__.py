# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The backend that runs all devices in lockstep, segment by segment."""
