# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The extension for VS Code is consistent, agrees with the server, and packs into one file."""

import json
import re
from pathlib import Path

from pyshardy.lsp import features

FOLDER = Path(__file__).resolve().parents[3] / "editors" / "vscode"
PACKAGE = json.loads((FOLDER / "package.json").read_text())
CODE = (FOLDER / "extension.js").read_text()
GRAMMAR = json.loads((FOLDER / "syntaxes" / "mlir.tmLanguage.json").read_text())


def test_commands_are_registered():
    contributed = {command["command"] for command in PACKAGE["contributes"]["commands"]}
    assert set(re.findall(r'register\("([\w.]+)"', CODE)) == contributed
    assert set(re.findall(r'ask\("([\w.]+)"', CODE)) == {features.EXPLAIN, features.TRACE}


def test_files_exist():
    named = [
        PACKAGE["icon"],
        *(each["configuration"] for each in PACKAGE["contributes"]["languages"]),
        *(each["path"] for each in PACKAGE["contributes"]["grammars"]),
    ]
    assert [name for name in named if not (FOLDER / name).exists()] == []


def rules(node):
    """All rules of a grammar."""
    if isinstance(node, dict):
        yield node
        for inner in node.values():
            yield from rules(inner)
    elif isinstance(node, list):
        for inner in node:
            yield from rules(inner)


def test_grammar():
    for rule in rules(GRAMMAR):
        for key in ("match", "begin", "end"):
            if key in rule:
                re.compile(rule[key])
        if "include" in rule:
            assert rule["include"].removeprefix("#") in GRAMMAR["repository"]


def scopes(line):
    """The first rule that matches at each place of a line, without nesting."""
    found = []
    position = 0
    top = [GRAMMAR["repository"][each["include"][1:]] for each in GRAMMAR["patterns"]]
    flat = [
        one for rule in top for one in ([rule] if "begin" in rule else rule.get("patterns", [rule]))
    ]
    while position < len(line):
        matches = [
            (re.compile(r.get("match") or r["begin"]).search(line, position), r) for r in flat
        ]
        there = [(m.start(), index) for index, (m, _) in enumerate(matches) if m]
        if not there:
            break
        match, rule = matches[min(there)[1]]
        found.append((match[0].strip(), rule.get("name") or "captures"))
        position = max(match.end(), position + 1)
    return found


def test_grammar_on_a_line():
    line = (
        '  %0 = stablehlo.tanh %arg0 {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>} : tensor<8xf32>'
    )
    found = dict(scopes(line))
    assert found["%0"] == "captures"
    assert found["stablehlo.tanh"] == "support.function.operation.stablehlo.mlir"
    assert found["%arg0"] == "variable.other.mlir"
    assert found["sdy.sharding"] == "entity.other.attribute-name.mlir"
    assert found["#sdy.sharding<"] == "captures"
    assert found["@mesh"] == "entity.name.function.reference.mlir"
    for word, scope in (
        ("func.return", "keyword.control.func.mlir"),
        ("sdy.all_gather", "keyword.other.operation.sdy.mlir"),
        ("chlo.erf", "support.function.operation.stablehlo.mlir"),
        ("arith.constant", "support.function.operation.mlir"),
    ):
        assert dict(scopes(f"  {word} %0"))[word] == scope
    assert ("xf32", "storage.type.mlir") in scopes("8xf32>")


def test_the_bundle_has_all_that_the_package_ships():
    """`npm run package` bundles the libraries, so that none of node_modules is in the package."""
    assert "dependencies" not in PACKAGE
    assert PACKAGE["scripts"]["vscode:prepublish"] == "node build.js"
    assert f'outfile: "{PACKAGE["main"].removeprefix("./")}"' in (FOLDER / "build.js").read_text()
    everything, *shipped = (FOLDER / ".vscodeignore").read_text().split()
    assert everything == "**"
    assert "!dist/*" in shipped
    for pattern in shipped:
        if pattern not in ("!dist/*", "!LICENSE"):  # made by the scripts
            assert list(FOLDER.glob(pattern.removeprefix("!")))
    assert "--allow-missing-repository" not in PACKAGE["scripts"]["package"]
    assert PACKAGE["repository"]["url"]
