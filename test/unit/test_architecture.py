# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports go one way, one module names the host, and tools start without it."""

import ast
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from layers import (
    BUDGETS,
    LEVELS,
    SOURCES,
    imports_of,
    late_imports,
    layer_of,
    lines_of,
    nodes_of,
)

ROOT = Path(__file__).resolve().parents[2]

LATE_IMPORTS = {
    "pyshardy.pytest_plugin": "the fixture, in a session of pytest that uses it",
    "pyshardy": "drawings, for notebooks",
    "pyshardy.advised_partition": "explanations, for violated contracts",
    "pyshardy.any_program": "reading files, guarded parsing, and front ends for functions",
    "pyshardy.api": "writing files, and records of propagation",
    "pyshardy.backends.registry": "the lockstep backend, which loads the host",
    "pyshardy.dynamic.program": "trees of JAX, for programs as functions of it",
    "pyshardy.cli.auto": "the search, after --help and bad usage",
    "pyshardy.cli.calibrate": "measuring and fitting, after --help and bad usage",
    "pyshardy.cli.crash_report": "the reproducer of pipelines",
    "pyshardy.cli.driver": "schedules and the cache, for one flag each, and advice on contracts",
    "pyshardy.cli.explain": "reports, each for one option",
    "pyshardy.cli.mpmd": "the host and the partitioner, after --help and bad usage",
    "pyshardy.cli.opt": "the driver, after --help and --version",
    "pyshardy.cli.run": "parts of the run, after --help and --version",
    "pyshardy.cli.run_files": "artifacts, each for one option",
    "pyshardy.cli.tool": "crash reports, and hardware, for the names of presets",
    "pyshardy.cli.translate": "reading files, after --help and --version",
    "pyshardy.drawing.drawing": "terminals",
    "pyshardy.explain.against_xla": "XLA, to compare with it",
    "pyshardy.frontends.files": "JAX, for programs that it has serialized, and artifacts",
    "pyshardy.lsp.main": "the server, after --help and --version",
    "pyshardy.mcp.main": "the server, after --help and --version",
    "pyshardy.passes.importing.apply_sharding_constraints": "debug information, rarely wanted",
    "pyshardy.passes.partitioning.insert_explicit_reshards": "what propagation doesn't use",
    "pyshardy.pipeline.reproducer": "printing modules",
    "pyshardy.program": "JAX, for `as_jax`",
}
"""The modules that import others inside functions, for a fast start-up, and what they import."""

CATCHING_ALL = {
    "mlir_sdy.shard.operation_parts": "undone and raised again",
    "pyshardy.backends.custom_calls": "a function of the user",
    "pyshardy.cli.mpmd": "a function of the user",
    "pyshardy.cli.crash_report": "a bug, in the process that outlives all",
    "pyshardy.cli.tool": "a bug, for the message of the tool",
    "pyshardy.dynamic.plan": "a program that isn't valid, whose verification says so",
    "pyshardy.frontends.jax.callbacks": "a function of the user, raised when XLA has returned",
    "pyshardy.frontends.jax.custom_partitioning": "a function of the user",
    "pyshardy.frontends.jax.lowered": "jax.export, which has no class for it",
    "pyshardy.frontends.torch.conversion": "undone and raised again",
    "pyshardy.frontends.torch.decomposing": "PyTorch, which has dozens of classes for it",
    "pyshardy.frontends.torch.dynamic_sizes": "PyTorch, which has dozens of classes for it",
    "pyshardy.frontends.torch.failures": "the importer, which has no class for it",
    "pyshardy.frontends.torch.fragments": "PyTorch, whose failure is repeated alone",
    "pyshardy.frontends.torch.importing": "the importer, which has no class for it",
    "pyshardy.frontends.torch.tracing": "a module of the user",
    "pyshardy.lsp.analysis": "a script of the user",
    "pyshardy.mcp.server": "undone and raised again",
    "pyshardy.mpmd.execution": "any failure of a thread, raised when all threads have ended",
    "pyshardy.mpmd.ranks": "any failure of a process, raised when all processes know of it",
    "pyshardy.pipeline.runner": "a bug in a pass, or a pass of the user",
    "pyshardy.processes.child_process": "undone and raised again",
    "pyshardy.processes.worker": "any failure, for the process that asked",
    "pyshardy.rules.lookup": "a rule of the user",
    "pyshardy.rules.registry": "undone and raised again",
}
"""The modules that catch all exceptions, and whose these are."""

PROCESS_STATE = {
    "mlir_sdy.ambient": "variables with a value for each `with` block, with their reasons",
    "mlir_sdy.attribute_base": "the last context, which makes plain values three times as fast",
    "mlir_sdy.notebook": "one notebook has one renderer",
    "pyshardy.pipeline.collection": "the garbage collector, paused while a pipeline runs",
    "pyshardy.processes.fork": "the garbage collector of a fork, which would copy pages",
    "pyshardy.cli.crash_report": "the garbage collector of a fork, which would copy pages",
    "pyshardy.cli.tool": "the garbage collector, which a short run of a tool doesn't need",
}
"""The modules that have state of the process, and why."""

CIRCLES = [
    {"mlir_sdy.model.axes", "mlir_sdy.model.mesh"},
]
"""Modules that know each other: types only, or a late import."""


def places(module, offending):
    """Where `module` imports something that `offending` says it must not."""
    return [
        f"{SOURCES[module].relative_to(ROOT)}:{line}: {module} imports {imported}"
        for imported, line in imports_of(module)
        if offending(imported)
    ]


def test_imports_go_one_way():
    def is_upward(module, imported):
        if imported not in SOURCES:
            return False
        own, other = layer_of(module), layer_of(imported)
        return LEVELS[other] > LEVELS[own] or (LEVELS[other] == LEVELS[own] and other != own)

    assert not [
        place
        for module in SOURCES
        for place in places(module, lambda imported, module=module: is_upward(module, imported))
    ]


def test_the_dialect_knows_nothing_of_what_works_on_it():
    modules = [module for module in SOURCES if module.startswith("mlir_sdy")]
    assert modules
    for module in modules:
        assert not places(module, lambda imported: imported.split(".")[0] == "pyshardy")


def test_the_model_imports_nothing_of_mlir():
    modules = [module for module in SOURCES if layer_of(module) == "mlir_sdy.model"]
    assert modules
    allowed = {*sys.stdlib_module_names, "typing_extensions"}
    for module in modules:
        assert not places(
            module,
            lambda imported: (
                imported.split(".")[0] not in allowed
                and layer_of_known(imported) != "mlir_sdy.model"
            ),
        )


def layer_of_known(module):
    """The layer of a module of the project; None for any other."""
    return layer_of(module) if module in SOURCES else None


def test_one_module_names_the_host():
    own = ("torch_mlir", "refback-")  # its package, and passes that it has beside MLIR's
    naming = {
        module for module, path in SOURCES.items() if any(name in path.read_text() for name in own)
    }
    assert naming == {"mlir_sdy.host"}


def test_one_module_uses_private_parts_of_jax():
    private = {
        module
        for module in SOURCES
        if any(name.startswith(("jax._", "jaxlib")) for name, _ in imports_of(module))
        or "._lowering" in SOURCES[module].read_text()
    }
    assert private == {"pyshardy.backends.jax_internals"}


def test_a_class_name_means_one_thing():
    """Private, nested and generated classes belong to their module, function or operation."""
    names = Counter(
        node.name
        for module in SOURCES
        if not module.startswith("mlir_sdy.ods")
        for node in nodes_of(module)[0].body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert names
    assert not {name for name, count in names.items() if count > 1}


def test_packages_keep_their_budgets():
    packages = {path.parent.name for path in (ROOT / "python" / "pyshardy").glob("*/__init__.py")}
    assert BUDGETS.keys() == packages
    assert not {name: lines_of(name) for name in packages if lines_of(name) > BUDGETS[name]}


def modules_in_table(package):
    """The modules that the table of a package lists; none without such a table."""
    text = (package / "__init__.py").read_text()
    table = re.search(r"^\| module .*\n\|-.*\n((?:\|.*\n)+)", text, re.MULTILINE)
    cells = [row.split("|")[1] for row in table[1].splitlines()] if table else []
    return set(re.findall(r"`(\w+)`", " ".join(cells)))


def test_tables_of_packages_list_their_modules():
    for init in ROOT.glob("[dp][iy]*/**/__init__.py"):
        package = init.parent
        modules = {path.stem for path in package.glob("*.py")} - {"__init__"}
        modules |= {path.parent.name for path in package.glob("*/__init__.py")}
        listed = modules_in_table(package)
        assert listed in (set(), modules), package


def test_imports_are_found():
    found = {imported for imported, _ in imports_of("mlir_sdy.host")}
    assert {"torch_mlir", "torch_mlir._mlir_libs._mlir", "mlir_sdy.diagnostics"} <= found
    local = {imported for imported, _ in imports_of("pyshardy.pipeline.reproducer")}
    assert "mlir_sdy.assembly" in local, "imports inside functions count"


def test_late_imports_have_a_reason():
    assert late_imports().keys() == LATE_IMPORTS.keys()


def catches_all(node):
    """Whether a node of the syntax tree catches every exception."""
    caught = node.type if isinstance(node, ast.ExceptHandler) else None
    return isinstance(node, ast.ExceptHandler) and (
        caught is None
        or (isinstance(caught, ast.Name) and caught.id in ("Exception", "BaseException"))
    )


def has_process_state(node):
    """Whether a node of the syntax tree makes or changes state of the process."""
    match node:
        case ast.Global():
            return True
        case ast.Call(func=ast.Name(id="ContextVar")):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Name(id="gc"))):
            return True
        case _:
            return False


@pytest.mark.parametrize(
    ("is_meant", "reasons"), [(catches_all, CATCHING_ALL), (has_process_state, PROCESS_STATE)]
)
def test_exceptions_to_rules_have_a_reason(is_meant, reasons):
    having = {module for module in SOURCES if any(map(is_meant, nodes_of(module)))}
    assert having == reasons.keys()


def test_no_new_import_circles():
    graph = {
        module: {name for name, _ in imports_of(module) if name in SOURCES and name != module}
        for module in SOURCES
    }
    reachable = {module: reached_from(module, graph) for module in graph}
    circles = {
        frozenset(other for other in reachable[module] if module in reachable[other])
        for module in graph
    } - {frozenset()}
    assert sorted(map(sorted, circles)) == sorted(map(sorted, CIRCLES))


def reached_from(module, graph):
    """The modules that a module imports, directly or not."""
    found, waiting = set(), [module]
    while waiting:
        for name in graph[waiting.pop()] - found:
            found.add(name)
            waiting.append(name)
    return found


# --- Start-up -----------------------------------------------------------------------------------

HEAVY = ("torch_mlir", "numpy", "rich", "jax", "jaxlib")
REPORT = """
import runpy, sys
sys.argv = {arguments!r}
try:
    runpy.run_module({module!r}, run_name="__main__")
except SystemExit as exit:
    assert not exit.code, exit.code
print("LOADED", *(name for name in {heavy!r} if name in sys.modules))
"""


def loaded_by(program):
    process = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr
    return process.stdout.splitlines()[-1].split()[1:]


@pytest.mark.parametrize("tool", ["explain", "opt", "run", "translate"])
@pytest.mark.parametrize("flag", ["--help", "--version"])
def test_help_and_version_need_no_host(tool, flag):
    program = REPORT.format(
        arguments=[tool, flag], module=f"pyshardy.cli.{tool}", heavy=(*HEAVY, "jinja2", "torch")
    )
    assert not loaded_by(program)


OF_PARTITIONER = (
    "pyshardy.contracts",
    "pyshardy.cost.hardware",
    "pyshardy.partition.choice.cheapest",
    "tomllib",
)
OF_PASSES = ("pyshardy.rules", "pyshardy.pipelines.propagation")


@pytest.mark.parametrize(
    ("pipeline", "unneeded"),
    [
        pytest.param("", (*HEAVY[1:], *OF_PASSES, "importlib.resources", "zipfile"), id="reading"),
        pytest.param("--sdy-propagation-pipeline", (*HEAVY[1:], *OF_PARTITIONER), id="propagation"),
    ],
)
def test_what_reading_and_propagation_load(pipeline, unneeded, tmp_path):
    """NumPy would take a third of the start-up of propagation, rules a tenth of that of reading."""
    file = tmp_path / "program.mlir"
    file.write_text(
        """
        sdy.mesh @mesh = <["x"=2]>
        func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
            -> tensor<8x8xf32> {
          %0 = stablehlo.negate %a : tensor<8x8xf32>
          return %0 : tensor<8x8xf32>
        }"""
    )
    arguments = ["opt", str(file), *filter(None, [pipeline])]
    program = REPORT.format(arguments=arguments, module="pyshardy.cli.opt", heavy=unneeded)
    assert not loaded_by(program)


def test_importing_the_package_needs_no_host():
    program = f"""
import sys, pyshardy
print("LOADED", *(name for name in {HEAVY!r} if name in sys.modules))
"""
    assert not loaded_by(program)


BY_NAME = ("pyshardy.irtools.stablehlo_views", "pyshardy.irtools.stablehlo_builder")
"""The modules of pyshardy that look up attributes of operations by their names."""


def is_attributes(node):
    """Whether a node of the syntax tree is the attributes of something, such as an operation."""
    return isinstance(node, ast.Attribute) and node.attr == "attributes"


def looks_up_attributes(node):
    """Whether a node reads, writes or tests an attribute by its name, or prepares to do so."""
    match node:
        case ast.Subscript(value=value):
            return is_attributes(value)
        case ast.Attribute(value=value, attr="get"):
            return is_attributes(value)
        case ast.Compare(ops=ops, comparators=[*others]):
            by_name = any(isinstance(each, ast.In | ast.NotIn) for each in ops)
            return by_name and any(map(is_attributes, others))
        case ast.Assign(value=value):
            return any(map(is_attributes, getattr(value, "elts", [value])))
        case _:
            return False


def test_attributes_are_looked_up_by_views():
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for module, path in SOURCES.items()
        if module.startswith("pyshardy") and not module.startswith(BY_NAME)
        for node in nodes_of(module)
        if looks_up_attributes(node)
    ]
    assert not found, "use a view of irtools/stablehlo_views, or mlir_sdy.discardable"
