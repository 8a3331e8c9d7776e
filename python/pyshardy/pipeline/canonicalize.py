# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `canonicalize`: the host's pass together with the patterns of the dialect.

The host's pass only has the patterns of dialects written in C++. The options `enable-patterns` and
`disable-patterns` select the dialect's patterns by label, such as `sdy-reshard`, or by name, such
as `merge-reshards`; `top-down` applies to both. The other options apply to the host's pass.

`symbol-dce`, which most programs have nothing to do for, is skipped where that is seen at once.
"""

from __future__ import annotations

from collections.abc import Callable

from mlir_sdy.fold import PATTERNS, Pattern, apply_patterns
from mlir_sdy.host import ir
from mlir_sdy.on_demand import has_mpmd, module_of_mpmd
from pyshardy.irtools.analyses import OF_SHARDINGS, UNKNOWN, Changes
from pyshardy.irtools.functions import CallGraph, functions_of, is_public
from pyshardy.irtools.stablehlo_views import callee_of, symbol_name
from pyshardy.irtools.walks import may_occur_at_start, names_that_may_occur
from pyshardy.pipeline.plan import Step, operations_at

SYMBOL_DCE = "symbol-dce"

_WITHOUT_SYMBOL_TABLES = ("chlo.", "func.", "sdy.", "stablehlo.")
"""The dialects that may occur: their only symbols are functions, and none has a table of them."""


def is_needless_symbol_dce(step: Step, module: ir.Module) -> bool:
    """Whether a pass is `symbol-dce`, and each symbol in the module is public or called.

    Calls count from public functions on. Other symbols than functions, and symbol tables inside of
    the module, are left to the host, which looks at the attributes of all operations.
    """
    if step.argument != SYMBOL_DCE or step.nesting:
        return False
    names = names_that_may_occur(module)
    if names is None or not all(name.startswith(_WITHOUT_SYMBOL_TABLES) for name in names):
        return False
    functions = functions_of(module)
    kept = {symbol_name(each): None for each in functions if is_public(each)}
    calls = CallGraph(module).calls if len(kept) < len(functions) else {}
    pending = list(kept)
    while pending:
        callees = dict.fromkeys(map(callee_of, calls.get(pending.pop(), ())))
        pending += [name for name in callees if name not in kept]
        kept |= callees
    return all(symbol_name(each) in kept for each in functions)


NAME = "canonicalize"

_LABELS = frozenset(pattern.label for pattern in PATTERNS if pattern.label)

_OF_FOLDERS = frozenset(
    {
        "arith.constant",
        "complex.constant",
        "index.constant",
        "shape.const_shape",
        "shape.const_size",
        "shape.const_witness",
        "stablehlo.constant",
        "ub.poison",
    }
)
"""The operations that the host inserts for results that it has computed."""


def run_canonicalize(step: Step, module: ir.Module, run_host_pass: Callable[[], None]) -> Changes:
    """Alternate the host's pass and the dialect's patterns until the patterns change nothing.

    The patterns are not tried if none of their operations occurs: folders of the host insert no
    operation of the dialect. Folders and the erasure of unused operations change no sharding, and
    insert no operation that has one.
    """
    patterns = selected_patterns(step, _patterns_of(module.context))
    top_down = "false" not in _names(step, "top-down")
    inserted = _inserted(step)
    if inserted is not None and not may_occur_at_start({each.root for each in patterns}, module):
        patterns = ()
    num_changed, changed = 0, [True]
    while any(changed):
        run_host_pass()
        targets = operations_at(module, step.nesting) if patterns else ()
        changed = [apply_patterns(target, patterns, top_down=top_down) for target in targets]
        num_changed += sum(changed)
    if inserted is None:
        return UNKNOWN
    return Changes(inserted, OF_SHARDINGS) if num_changed else Changes(inserted)


def _inserted(step: Step) -> frozenset[str] | None:
    """Return the operations that `step` may insert; None if it uses patterns of the host."""
    enabled = _names(step, "enable-patterns")
    if not enabled or not enabled <= _LABELS:
        return None
    return _OF_FOLDERS.union(*(pattern.inserts for pattern in selected_patterns(step)))


def _patterns_of(context: ir.Context) -> tuple[Pattern, ...]:
    """Return the patterns of the dialects of a context."""
    return (*PATTERNS, *module_of_mpmd("fold").PATTERNS) if has_mpmd(context) else PATTERNS


def selected_patterns(step: Step, patterns: tuple[Pattern, ...] = PATTERNS) -> tuple[Pattern, ...]:
    """Return the patterns that the options of `step` enable."""
    enabled = _names(step, "enable-patterns")
    disabled = _names(step, "disable-patterns")
    return tuple(
        pattern
        for pattern in patterns
        if (not enabled or enabled & {pattern.label, pattern.name})
        and not disabled & {pattern.label, pattern.name}
    )


def _names(step: Step, option: str) -> set[str]:
    texts = [written.value or "" for written in step.use.options if written.name == option]
    return {name.strip() for text in texts for name in text.split(",")} - {""}
