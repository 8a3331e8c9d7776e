# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The backend `mpi`: each process of an MPI job is one device.

    mpiexec -n 6 python my_program.py          # program.run(inputs, backend="mpi")

Every process takes all inputs and returns the gathered results.
"""

from __future__ import annotations

from collections.abc import Sequence

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.host import ir, location_of
from pyshardy.backends.engines.interface import Arrays
from pyshardy.backends.jit.compiler import CompiledProgram
from pyshardy.backends.mpi.compiler import compile_for_mpi
from pyshardy.backends.mpi.library import mpi_library
from pyshardy.backends.registry import CompileOptions
from pyshardy.irtools.functions import ENTRY
from pyshardy.irtools.stablehlo_views import function_type_of
from pyshardy.local_program.entry import from_plain, to_plain
from pyshardy.local_program.process_groups import Layout
from pyshardy.local_program.tensor_spec import Array, TensorSpec
from pyshardy.local_program.values import spec_of

_OPTIMIZATION = 2


class MpiBackend:
    """Compiles programs for the processes of an MPI job."""

    def compile(self, module: ir.Module, layout: Layout, options: CompileOptions) -> MpiProgram:
        """See `Backend.compile`.

        Raises:
            UsageError: there is no MPI library, or the job has another number of processes.
        """
        library = mpi_library()
        if layout.size not in {1, library.size}:
            raise UsageError(
                error(
                    f"the program is for {layout.size} devices, but {library.size} processes run "
                    f"it: start it by 'mpiexec -n {layout.size} python ...'"
                )
            )
        entry = ir.SymbolTable(module.operation)[ENTRY].operation
        function_type = function_type_of(entry)
        place = location_of(entry.location)
        inputs = [spec_of(each, place) for each in function_type.inputs]
        outputs = [spec_of(each, place) for each in function_type.results]
        level = _OPTIMIZATION if options.optimization is None else options.optimization
        compiled = compile_for_mpi(module, inputs, outputs, layout.size, level)
        return MpiProgram(compiled, inputs, outputs, is_alone=layout.size == 1)


class MpiProgram:
    """A program that is compiled for this process, and in the same way for all others.

    Args:
        compiled: the machine code.
        inputs: the types of the arguments on each device.
        outputs: the types of the results on each device.
        is_alone: whether it is for one device only; then every process runs it independently.
    """

    def __init__(
        self,
        compiled: CompiledProgram,
        inputs: Sequence[TensorSpec],
        outputs: Sequence[TensorSpec],
        *,
        is_alone: bool,
    ):
        self._compiled = compiled
        self._inputs = tuple(inputs)
        self._outputs = tuple(outputs)
        self._is_alone = is_alone

    def run(self, inputs: Sequence[Arrays]) -> list[list[Array]]:
        """See `SpmdProgram.run`. All processes must call it, with the same inputs."""
        library = mpi_library()
        plain = to_plain(inputs[0 if self._is_alone else library.rank], self._inputs)
        own = from_plain(self._compiled(plain), self._outputs)
        if self._is_alone:
            return [own]
        columns = [library.all_gather(array) for array in own]
        return [list(row) for row in zip(*columns, strict=True)] or [[]] * library.size
