# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Settings of all tests."""

import os

# Each pass of each test is checked: does it preserve the analyses that it is declared to preserve?
os.environ["PYSHARDY_VERIFY_ANALYSES"] = "1"
