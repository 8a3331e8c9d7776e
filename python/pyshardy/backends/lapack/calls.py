# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The custom calls by which JAX calls LAPACK, implemented in NumPy."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from pyshardy.backends.custom_calls.functions import Function
from pyshardy.backends.lapack import reflections, solvers, spectral
from pyshardy.local_program.custom_calls import CustomCall
from pyshardy.local_program.tensor_spec import Array


class _Routine(NamedTuple):
    """A LAPACK routine.

    Attributes:
        run: takes the configuration of a call and the operands for one matrix, and returns the
            results.
        ranks: the ranks of these operands.
        of_complex: the name of the routine for complex numbers, if it differs.
    """

    run: Callable[..., tuple[Any, ...]]
    ranks: tuple[int, ...]
    of_complex: str = ""


_ROUTINES: dict[str, _Routine] = {
    "gees": _Routine(spectral.gees, (2,)),
    "geev": _Routine(spectral.geev, (2,)),
    "gehrd": _Routine(reflections.gehrd, (2,)),
    "geqp3": _Routine(reflections.geqp3, (2, 1)),
    "geqrf": _Routine(reflections.geqrf, (2,)),
    "gesdd": _Routine(spectral.gesdd, (2,)),
    "gesvd": _Routine(spectral.gesdd, (2,)),
    "getrf": _Routine(solvers.getrf, (2,)),
    "gtsv": _Routine(solvers.gtsv, (1, 1, 1, 2)),
    "orgqr": _Routine(reflections.orgqr, (2, 1), "ungqr"),
    "ormqr": _Routine(reflections.ormqr, (2, 1, 2), "unmqr"),
    "potrf": _Routine(solvers.potrf, (2,)),
    "syevd": _Routine(spectral.syevd, (2,), "heevd"),
    "sytrd": _Routine(reflections.sytrd, (2,), "hetrd"),
    "trsm": _Routine(solvers.trsm, (2, 2)),
}
_WIDE = {"f": np.float64, "c": np.complex128}
_TARGET = "lapack_{kind}{name}_ffi"


def _functions() -> Mapping[str, Function]:
    found: dict[str, Function] = {}
    for name, routine in _ROUTINES.items():
        function = _of_batches(routine)
        for kind in "sd":
            found[_TARGET.format(kind=kind, name=name)] = function
        for kind in "cz":
            found[_TARGET.format(kind=kind, name=routine.of_complex or name)] = function
    return found


def _of_batches(routine: _Routine) -> Function:
    """Return the routine for batches of matrices; batch dimensions come first."""

    def run(*arrays: Array, call: CustomCall) -> tuple[Array, ...]:
        results = tuple(np.zeros(spec.shape, spec.dtype) for spec in call.results)
        config: Mapping[str, Any] = {} if isinstance(call.config, str) else call.config
        wide = [array.astype(_WIDE.get(array.dtype.kind, array.dtype)) for array in arrays]
        batch = arrays[0].shape[: arrays[0].ndim - routine.ranks[0]]
        for index in itertools.product(*map(range, batch)):
            try:
                made = routine.run(config, *(each[index] for each in wide))
            except np.linalg.LinAlgError:  # no convergence, for example with NaNs
                made = [np.nan if each.dtype.kind in "fc" else 1 for each in results]
            for result, value in zip(results, made, strict=True):
                # A real matrix may have real eigenvectors in a complex array.
                result[index] = value
        return results

    return run


FUNCTIONS = _functions()
"""The function for each custom call, by its target."""
