# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Take the screenshots of the report for the guide: `python tools/make_screenshots.py`.

One program is that of the benchmarks, a training step of 24 layers; the other one is the training
step of Llama 3 8B. The tests don't compare the pictures, since fonts differ between machines; check
them before a commit, and reduce them to 256 colors, as with Pillow's `Image.quantize`.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROOT = Path(__file__).parents[1]
GUIDE = ROOT / "docs" / "guide"
CHROMIUM = "/usr/bin/chromium"
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def find(page: Page, words: str) -> None:
    """Select the first result of the search."""
    page.fill("#search", words)
    page.keyboard.press("Enter")
    page.fill("#search", "")
    page.keyboard.press("Escape")


def overview(page: Page) -> None:
    """Select the scores of the first layer's attention, which expands the groups around them."""
    find(page, "dot_general 16x4x32x32")


def collective(page: Page) -> None:
    """Select the collective that sends the most bytes, and its operation."""
    page.click("#tab-collectives")
    page.locator("#collectives tbody tr").first.click()
    page.locator("#collectives tr.inner").first.click()


def replay(page: Page) -> None:
    """Replay a third of the steps: some values have only one of their two axes, or none."""
    find(page, "dot_general 16x4x32x32")
    steps = int(page.locator("#step").get_attribute("max") or 0)
    page.locator("#step").fill(str(steps // 3))


def llama(page: Page) -> None:
    """List the collectives by bytes, and select the forward pass, in which the layers are equal."""
    page.click("#tab-collectives")
    find(page, "forward")


def write_report(folder: Path) -> Path:
    """Write the page of the training step, and return its path."""
    program = folder / "transformer_24_layers.mlir"
    make = [sys.executable, ROOT / "examples" / "make_programs.py", "--large", program]
    subprocess.run([*make, "--layers", "24"], check=True)
    report = folder / "report.html"
    explain = [sys.executable, "-m", "pyshardy.cli.explain", program.name, f"--html={report}"]
    subprocess.run(explain, check=True, cwd=folder)
    return report


def write_llama_report(folder: Path) -> Path:
    """Write the page of the training step of Llama 3 8B, and return its path."""
    report = folder / "llama.html"
    script = ROOT / "examples" / "llama_8b.py"
    subprocess.run([sys.executable, script, f"--html={report}"], check=True)
    return report


SCREENSHOTS: dict[Callable[[Path], Path], dict[str, Callable[[Page], None]]] = {
    write_report: {
        "report_overview": overview,
        "report_collective": collective,
        "report_replay": replay,
    },
    write_llama_report: {"report_llama": llama},
}
"""The pictures of each report."""


def take_screenshots(
    report: Path, actions: Mapping[str, Callable[[Page], None]], folder: Path
) -> None:
    """Write the screenshots of a report."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 (may be missing)

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        for name, act in actions.items():
            page = browser.new_page(viewport={"width": 1440, "height": 900}, color_scheme="light")
            page.goto(report.as_uri())
            page.wait_for_selector("html[data-ready=yes]")
            act(page)
            page.screenshot(path=folder / f"{name}.png")
            page.close()
        browser.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        for write, actions in SCREENSHOTS.items():
            take_screenshots(write(Path(scratch)), actions, GUIDE)
