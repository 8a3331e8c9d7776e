# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-calibrate`: measure devices and links, for plans that hold there.

    sdy-calibrate --mesh=data:4,model:2 -o hardware.toml
    srun sdy-calibrate --mesh=data:16,model:8 --distributed -o hardware.toml
    mpiexec -n 8 sdy-calibrate --backend=mpi --mesh=data:4,model:2 -o hardware.toml
    sdy-calibrate --script=measure.py
    sdy-calibrate --from=measured.json -o hardware.toml
    sdy-explain program.mlir --hardware=hardware.toml

Measures collectives, products, memory and their overlap on the devices of JAX or of an MPI job, and
fits the constants of the hardware. All devices should be idle. An interrupt from the keyboard ends
measuring early, and what was measured is used.

Exit status: 0 when the hardware was written, also after an interrupt, else 1.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from mlir_sdy.diagnostics import UsageError, error
from pyshardy.cli.flags import MESH_FORM, flag
from pyshardy.cli.output import check_outputs, write_report
from pyshardy.cli.tool import Parser, Tool, entry_point

if TYPE_CHECKING:
    from pyshardy.calibration.measuring import Measurements


@dataclass(frozen=True, kw_only=True)
class CalibrateFlags:
    """The flags of sdy-calibrate."""

    mesh: str = flag("", "axes of the devices: data:4,model:2 (default: one axis, data)", MESH_FORM)
    backend: str = flag(
        "xla",
        "what runs programs: the devices of JAX, or the processes of an MPI job "
        "(default: %(default)s)",
        choices=("xla", "mpi"),
    )
    seconds: float = flag(150.0, "time for measuring (default: %(default)s)", "SECONDS")
    distributed: bool = flag(
        False,
        "several processes measure together: calls jax.distributed.initialize, which knows Slurm, "
        "Open MPI and Cloud TPUs",
    )
    source: str = flag(
        "", "take the measurements of a script, instead of measuring", "FILE.json", name="from"
    )
    script: str = flag(
        "",
        "write a Python file that measures with JAX and NumPy alone, where pyshardy isn't "
        "installed",
        "FILE.py",
    )
    name: str = flag("", "name of the hardware (default: the devices)", "TEXT")
    points: bool = flag(False, "print each measurement")
    measurements: str = flag("", "write the measurements, for --from", "FILE.json")
    output: str = flag("", "write the hardware", "FILE.toml", name="o")


parser = partial(
    Parser[CalibrateFlags],
    "sdy-calibrate",
    "Measures devices and the links between them, and writes the hardware file that other tools "
    "take by --hardware.",
    CalibrateFlags,
)
"""Makes the parser of the command line."""


def _run(arguments: CalibrateFlags, tool: Tool) -> int:
    if arguments.output and not arguments.output.endswith(".toml"):
        message = f"'-o {arguments.output}': the name of a hardware file ends with .toml"
        raise UsageError(error(message))
    check_outputs(arguments.measurements, arguments.output)
    if arguments.script:
        if arguments.mesh or arguments.distributed or arguments.source or arguments.output:
            message = "the script has flags of its own: give '--mesh', '--seconds' and '-o' to it"
            raise UsageError(error(message))
        from pathlib import Path  # noqa: PLC0415

        from pyshardy.calibration import measuring  # noqa: PLC0415

        write_report(arguments.script, Path(measuring.__file__).read_text(encoding="utf-8"))
        return 0
    if arguments.source:
        if arguments.mesh or arguments.distributed or arguments.backend != "xla":
            message = "'--from' takes measurements of a file, which has its mesh and devices"
            raise UsageError(error(f"{message}: omit '--mesh', '--backend' and '--distributed'"))
        from pyshardy.calibration.report import read_measurements  # noqa: PLC0415

        found = read_measurements(arguments.source)
    else:
        measured = _measure(arguments)
        if measured is None:
            return 0
        found = measured
    if arguments.measurements:
        write_report(arguments.measurements, found.to_json())
    _report(found, arguments, tool)
    return 0


def _measure(arguments: CalibrateFlags) -> Measurements | None:
    """Return the measurements; None in another process than the first."""
    from pyshardy.calibration.measuring import (  # noqa: PLC0415
        Measurer,
        end_as_by_keyboard,
        measure_with_jax,
        show_nothing,
        show_progress,
        use_cpu_devices,
    )
    from pyshardy.cli.mesh_flag import read_mesh  # noqa: PLC0415 (loads the MLIR host)

    mesh: dict[str, int] = {}
    if arguments.mesh:
        mesh = {axis.name: axis.size for axis in read_mesh(arguments.mesh)[1].axes}
    end_as_by_keyboard()
    if arguments.backend == "mpi":
        from pyshardy.calibration.mpi import MpiMachine  # noqa: PLC0415

        machine = MpiMachine(mesh)
        progress = show_progress if machine.is_first else show_nothing
        found = Measurer(machine, arguments.seconds).run(progress)
        return found if machine.is_first else None
    from pyshardy.packages import require  # noqa: PLC0415

    require("jax", "measuring devices", extra="jax")
    import jax  # noqa: PLC0415 (an optional package)

    try:
        if arguments.distributed:
            jax.distributed.initialize()
        else:
            use_cpu_devices(math.prod(mesh.values()))
        found, is_first = measure_with_jax(mesh, arguments.seconds)
    except (ValueError, RuntimeError) as reason:
        raise UsageError(error(f"the devices can't be measured: {reason}")) from None
    return found if is_first else None


def _report(found: Measurements, arguments: CalibrateFlags, tool: Tool) -> None:
    """Print the constants and residuals, and write the file."""
    from pyshardy.calibration.fitting import calibrate  # noqa: PLC0415
    from pyshardy.calibration.report import (  # noqa: PLC0415
        constants_table,
        hardware_file,
        remarks,
        residuals_table,
        warnings_of,
    )
    from pyshardy.cli.tables import Printer  # noqa: PLC0415 (loads rich)

    calibration = calibrate(found, arguments.name)
    printer = Printer()
    printer.tables([constants_table(calibration.hardware)])
    printer.tables([residuals_table(calibration, whole=arguments.points)])
    printer.line("")
    for line in remarks(found, calibration):
        printer.line(line)
    for each in warnings_of(found):
        tool.show(each)
    if arguments.output:
        write_report(arguments.output, hardware_file(calibration.hardware))


main = entry_point("sdy-calibrate", parser, _run)
"""Runs the tool; see `entry_point`."""


if __name__ == "__main__":
    sys.exit(main())
