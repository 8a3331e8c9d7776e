# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The backend that runs each device as an MPI process."""
