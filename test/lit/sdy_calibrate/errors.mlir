// RUN: not sdy-calibrate --from=%s 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: not sdy-calibrate --from=nowhere.json 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not sdy-calibrate --from=%s --mesh=x:2 2>&1 | FileCheck %s --check-prefix=MESH
// RUN: not sdy-calibrate --mesh=x:two 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not sdy-calibrate -o hardware.json 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not sdy-calibrate --backend=gpu 2>&1 | FileCheck %s --check-prefix=BACKEND
// RUN: env XLA_FLAGS=--xla_force_host_platform_device_count=2 not sdy-calibrate --mesh=x:4 2>&1 | FileCheck %s --check-prefix=DEVICES
// RUN: not sdy-calibrate -o nowhere/hardware.toml 2>&1 | FileCheck %s --check-prefix=OUTPUT
// RUN: not sdy-calibrate --script=%t.py --mesh=x:2 2>&1 | FileCheck %s --check-prefix=FLAGS
// RUN: sdy-calibrate --script=%t.py
// RUN: not %python %t.py -o nowhere/measured.json 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: not %python %t.py --seconds=nan 2>&1 | FileCheck %s --check-prefix=SECONDS
// RUN: sdy-calibrate --script=- | FileCheck %s --check-prefix=SCRIPT

// FILE: errors.mlir:1:1: it is no JSON of sdy-calibrate's script
// MISSING: cannot read the measurements 'nowhere.json': No such file or directory
// MESH: '--from' takes measurements of a file, which has its mesh and devices: omit '--mesh', '--backend'
// SIZE: '--mesh=x:two' is not a mesh: expected a form such as
// NAME: '-o hardware.json': the name of a hardware file ends with .toml
// BACKEND: invalid choice: 'gpu'
// DEVICES: the devices can't be measured: the mesh x:4 is of 4 devices, but JAX has 2 (cpu)
// OUTPUT-NOT: start, 16 KiB
// OUTPUT: cannot write output file 'nowhere/hardware.toml': No such file or directory
// FLAGS: the script has flags of its own: give '--mesh', '--seconds' and '-o' to it
// ALONE-NOT: start, 16 KiB
// ALONE: .py: [Errno 2] No such file or directory: 'nowhere/measured.json'
// SECONDS: .py: --seconds is nan: expected a number of at least 0
// SCRIPT: """Measure the collectives, the products and the memory of devices, with only JAX and NumPy.
// SCRIPT-NOT: {{^ *}}import pyshardy
// SCRIPT-NOT: {{^ *}}from pyshardy
