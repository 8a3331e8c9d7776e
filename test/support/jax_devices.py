# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Import this before JAX looks for devices: then it has eight virtual ones in this process."""

import os

COUNT = 8

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={COUNT}"
