# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The lit suite: `lit test/lit`. Each test names the tools it runs in its RUN lines."""

import importlib.util
import os
import shutil
import sys
from pathlib import Path

import lit.formats

# lit hands these two over; they can't be imported.
config = config  # noqa: F821, PLW0127
lit_config = lit_config  # noqa: F821, PLW0127


def tool(name: str) -> str:
    """The script of that name beside this Python, or the first one on the search path."""
    beside = Path(sys.executable).parent / name
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        lit_config.fatal(f"{name} is not installed: pip install -e '.[dev]'")
    return str(found)


config.name = "pyshardy"
config.suffixes = [".mlir"]
config.excludes = ["Inputs"]
config.test_source_root = str(Path(__file__).parent)
# Several Pythons may run the tests at the same time.
python = f"{sys.version_info.major}.{sys.version_info.minor}"
config.test_exec_root = str(Path(__file__).parents[2] / "build" / "lit" / python)
# `not` and pipes come from lit's own shell.
config.test_format = lit.formats.ShTest(execute_external=False)
# A tree that isn't the installed one is tested by its path.
if "PYTHONPATH" in os.environ:
    config.environment["PYTHONPATH"] = os.environ["PYTHONPATH"]
config.environment["PYSHARDY_VERIFY_ANALYSES"] = "1"
# Memory of the host that was freed is overwritten, so that a use of it is noticed.
config.environment["MALLOC_PERTURB_"] = "85"
config.substitutions += [
    (r"\bsdy-explain\b", f"'{sys.executable}' -m pyshardy.cli.explain"),
    (r"\bsdy-opt\b", f"'{sys.executable}' -m pyshardy.cli.opt"),
    (r"\bsdy-run\b", f"'{sys.executable}' -m pyshardy.cli.run"),
    (r"\bsdy-auto\b", f"'{sys.executable}' -m pyshardy.cli.auto"),
    (r"\bsdy-calibrate\b", f"'{sys.executable}' -m pyshardy.cli.calibrate"),
    (r"\bsdy-mpmd\b", f"'{sys.executable}' -m pyshardy.cli.mpmd"),
    (r"\bsdy-translate\b", f"'{sys.executable}' -m pyshardy.cli.translate"),
    (r"%python\b", f"'{sys.executable}'"),
    (r"%{pythonpath}", os.environ.get("PYTHONPATH", "")),
    (r"\bFileCheck\b", f"'{tool('filecheck')}'"),
]
# lit can stop a test that hangs only with psutil.
if importlib.util.find_spec("psutil") is not None:
    try:
        lit_config.maxIndividualTestTime = 120
    except AttributeError:  # lit 23 and newer
        config.maxIndividualTestTime = 120
