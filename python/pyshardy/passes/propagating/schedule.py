# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-schedule`: propagate the shardings of the tactics of a schedule.

sdy-opt --pass-pipeline='builtin.module(sdy-schedule{file=plan.toml},sdy-partition-pipeline)'

It stands for `sdy-propagation-pipeline`.
"""

from __future__ import annotations

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.host import ir
from pyshardy.irtools.modules import move_contents
from pyshardy.pipeline import register_pass
from pyshardy.schedules.files import parse_tactics, read_tactics
from pyshardy.schedules.state import propagated_with


@register_pass("sdy-schedule", release="pyshardy")
def schedule(module: ir.Module, *, file: str = "", tactics: str = "") -> None:
    """Propagate the shardings of the tactics of a schedule.

    Applies tactics, which add axes to values, and propagates after each of them. It stands for
    `sdy-propagation-pipeline`: the program is imported before and exported after. The result is
    that of an annotated program in which the axes of tactic i have user priority i. The tactics are
    in a TOML file, or in an array of inline tables:

    ```
    sdy-schedule{tactics={[{kind='batch', inputs='x', axis='data'}]}}
    ```

    On a mesh `<["data"=8]>`

    ```mlir
    func.func @main(%x: tensor<64x32xf32> loc("x"), %w: tensor<32x32xf32> loc("w")) -> ... {
      %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : ...
    ```

    becomes

    ```mlir
    func.func @main(%x: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
                    %w: tensor<32x32xf32>) -> ... {
      %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
        {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"data"}, {}]>]>} : ...
    ```

    Options:
        file: TOML file with the tactics.
        tactics: tactics, as an array of inline tables of TOML.

    Raises:
        UsageError: neither or both of `file` and `tactics` are given, or they are invalid; a
            pattern matches nothing; the mesh has no such axis.
        PipelineError: propagation fails.
    """
    if bool(file) == bool(tactics):
        raise UsageError(error("'sdy-schedule' needs either the option 'file' or 'tactics'"))
    given = read_tactics(file) if file else parse_tactics(tactics)
    move_contents(propagated_with(module, given).operation, module.operation)
