# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports go one way, one module names the host, and tools start without it."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = {
    ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): path
    for root in (ROOT / "dialect", ROOT / "python")
    for path in sorted(root.rglob("*.py"))
}

# Each layer may import those above it, and other modules of its own. Brackets join siblings, which
# do not import each other.
LAYERS = [
    ["mlir_sdy.model"],
    ["mlir_sdy.drawing"],
    ["mlir_sdy"],
    ["pyshardy.packages"],
    ["pyshardy.irtools"],
    ["pyshardy.pipeline"],
    ["pyshardy.rules", "pyshardy.cost"],
    ["pyshardy.local_program"],
    ["pyshardy.propagation", "pyshardy.backends"],
    ["pyshardy.importing"],
    ["pyshardy.partition"],
    ["pyshardy.shard"],
    ["pyshardy.passes"],
    ["pyshardy.pipelines"],
    ["pyshardy.frontends"],
    ["pyshardy.program"],
    ["pyshardy"],  # the public interface, and what else stands directly in the package
    ["pyshardy.explain"],  # of whole programs, from annotations to what devices send
    ["pyshardy.cli"],
]
LEVELS = {layer: level for level, layers in enumerate(LAYERS) for layer in layers}


def layer_of(module):
    """The layer with the longest name that `module` is in."""
    candidates = (layer for layer in LEVELS if f"{module}.".startswith(f"{layer}."))
    return max(candidates, key=len)


def imports_of(module):
    """The modules of the project and of others that `module` imports, anywhere in its code."""
    path = SOURCES[module]
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, base]).rstrip(".")
            for alias in node.names:
                name = f"{base}.{alias.name}"
                yield (name if name in SOURCES else base), node.lineno


def places(module, offending):
    """Where `module` imports something that `offending` says it must not."""
    return [
        f"{SOURCES[module].relative_to(ROOT)}:{line}: {module} imports {imported}"
        for imported, line in imports_of(module)
        if offending(imported)
    ]


@pytest.mark.parametrize("module", SOURCES)
def test_imports_go_one_way(module):
    level = LEVELS[layer_of(module)]
    assert not places(
        module,
        lambda imported: (
            imported in SOURCES
            and (
                LEVELS[layer_of(imported)] > level
                or (LEVELS[layer_of(imported)] == level and layer_of(imported) != layer_of(module))
            )
        ),
    )


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


def test_imports_are_found():
    found = {imported for imported, _ in imports_of("mlir_sdy.host")}
    assert {"torch_mlir", "torch_mlir._mlir_libs._mlir", "mlir_sdy.diagnostics"} <= found
    local = {imported for imported, _ in imports_of("mlir_sdy.attribute_base")}
    assert "mlir_sdy.attributes" in local, "imports inside functions count"


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


def test_importing_the_package_needs_no_host():
    program = f"""
import sys, pyshardy
print("LOADED", *(name for name in {HEAVY!r} if name in sys.modules))
"""
    assert not loaded_by(program)
