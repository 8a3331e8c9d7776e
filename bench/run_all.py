# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""All timings of the pipelines, as ratios to their peers, and the page of the docs with them.

    python bench/run_all.py -o docs/reference/speed.md
    python bench/run_all.py --runs 3 --xla-runs 1 --programs decoder_adamw

Use a Python that is built with profile-guided optimization, as those of distributions are
(`--enable-optimizations`); others take 1.3 to 1.9 times as long. Files are compiled before.

Both sides of a ratio run in turn, on fresh modules; a ratio is the median of those of the pairs,
with the lowest and the highest. Below 1, ours is faster. Times are those of processors, except
where XLA tells the time that has passed. Needs the `jax` extra for C++ Shardy of
jaxlib 0.10.2 and XLA. `PYSHARDY_ORACLE_PYTHON` names a Python with jaxlib 0.12 (see
`tools/oracle_environment.py`); without it, its columns are left out.
"""

from __future__ import annotations

import argparse
import compileall
import gc
import json
import os
import platform
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import floor
import idle_passes
import parts
from partition import num_operations
from workload import chain, program_text
from xla_compile import partitioning_time

from mlir_sdy.assembly import asm, parse
from mlir_sdy.dialect import Context
from mlir_sdy.host import ir
from pyshardy.pipeline import Instrumentation, run_pipeline
from pyshardy.pipeline.plan import Step

BENCH = Path(__file__).parent
PROPAGATION, PARTITION = "sdy-propagation-pipeline", "sdy-partition-pipeline"

BOTH_BY_SHARDY = (
    "sdy-import-pipeline,sdy-flatten-call-graph,symbol-dce,sdy-import-func-calls,symbol-dce,"
    "sdy-apply-sharding-constraints,sdy-sharding-group-import,"
    "sdy-user-priority-propagate{keep-sharding-rules=true},"
    "sdy-export-pipeline{partitioner-stage=convert-global-to-local partition-count=8 "
    "replica-count=1}"
)
"""The pipeline of C++ Shardy 0.12 from the annotated program to the local one."""

PEER = """
import json, sys, time
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import sdy
from jaxlib.mlir.passmanager import PassManager
try:
    from jax._src.interpreters.mlir import make_ir_context
    context = make_ir_context()
except ImportError:
    from jaxlib.mlir.dialects import chlo, func, stablehlo
    context = ir.Context()
    for dialect in (sdy, stablehlo, chlo):
        dialect.register_dialect(context)
text = open(sys.argv[1]).read()
with context, ir.Location.unknown():
    for line in sys.stdin:
        pipeline, verify = json.loads(line)
        module = ir.Module.parse(text)
        pass_manager = PassManager.parse(f"builtin.module({pipeline})")
        pass_manager.enable_verifier(verify)
        start = time.process_time()
        pass_manager.run(module.operation)
        print(time.process_time() - start, flush=True)
"""

TRACE = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
import jax, programs
import pyshardy as sdy

def theirs(step):
    jitted = jax.jit(step.function, in_shardings=step.in_shardings)
    jitted.lower(*step.arguments).compile()

def ours(step):
    module = sdy.jax.trace(step.function, *step.arguments, in_shardings=step.in_shardings)
    sdy.propagate(module)
    jax.jit(sdy.partition(module).as_jax()).lower(*step.arguments).compile()

step = programs.PROGRAMS[sys.argv[2]]()
for _ in range(int(sys.argv[3]) + 1):
    seconds = []
    for side in (ours, theirs):
        jax.clear_caches()
        start = time.perf_counter()
        side(step)
        seconds.append(time.perf_counter() - start)
    print(json.dumps(seconds), flush=True)
"""


# --- Measuring ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pairs:
    """The seconds of runs in turn of ours and of a peer."""

    seconds: Sequence[tuple[float, float]]

    @property
    def ours(self) -> float:
        """The median of our seconds."""
        return statistics.median(ours for ours, _ in self.seconds)

    @property
    def ratio(self) -> float:
        """The median of the ratios."""
        return statistics.median(ours / peer for ours, peer in self.seconds)

    def __str__(self) -> str:
        """Return the median of the ratios, with the lowest and the highest."""
        ratios = sorted(ours / peer for ours, peer in self.seconds)
        return f"{self.ratio:.2f} [{ratios[0]:.2f}, {ratios[-1]:.2f}]"


class Peer:
    """C++ Shardy in a separate process, with a program to run on."""

    def __init__(self, python: str, program: Path):
        self._process = subprocess.Popen(
            [python, "-c", PEER, program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        )

    def seconds(self, pipeline: str, *, verify: bool) -> float:
        """Return the time of a pipeline on a fresh module."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([pipeline, verify]) + "\n")
        self._process.stdin.flush()
        return float(self._process.stdout.readline())

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def own_seconds(
    text: str,
    context: Context,
    pipelines: Sequence[str],
    *,
    verify: bool,
    clock: Callable[[], float] = time.process_time,
) -> float:
    """Return the time of pipelines on a fresh module."""
    module = parse(text, context)
    gc.collect()
    start = clock()
    for pipeline in pipelines:
        run_pipeline(module, pipeline, verify_each=verify, restore_on_failure=verify)
    return clock() - start


def pairs(own: Callable[[], float], peer: Callable[[], float], runs: int) -> Pairs:
    """Return the times of both sides in turn, after one that doesn't count."""
    own()
    peer()
    return Pairs([(own(), peer()) for _ in range(runs)])


# --- The sections of the page -------------------------------------------------------------------


@dataclass(frozen=True)
class Program:
    """A program of the benchmark."""

    name: str
    text: str
    path: Path
    num_operations: int


def programs(folder: Path, names: Sequence[str]) -> list[Program]:
    """Make the training step of the examples, and the programs of `programs.py`."""
    subprocess.run([sys.executable, BENCH / "programs.py", folder], check=True)
    (folder / "training_step.mlir").write_text(program_text(None))
    found: list[Program] = []
    for path in sorted(folder.glob("*.mlir"), key=lambda path: path.stem != "training_step"):
        if not names or path.stem in names:
            module = parse(path.read_text(), Context())
            path.write_text(asm(module))
            found.append(Program(path.stem, path.read_text(), path, num_operations(module)))
    return found


def table(titles: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table of Markdown."""
    lines = [titles, ["---"] * len(titles), *rows]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)


def with_means(rows: Sequence[Sequence[object]]) -> list[Sequence[object]]:
    """Add a row with the geometric mean of each column of ratios."""
    means: list[object] = [
        f"{statistics.geometric_mean([each.ratio for each in column]):.2f}"
        if all(isinstance(each, Pairs) for each in column)
        else ""
        for column in zip(*rows, strict=True)
    ]
    return [*rows, ["geometric mean", *means[1:]]]


def propagation(each: Program, pythons: Sequence[str], runs: int) -> list[object]:
    """Return a row: times, and ratios to each C++ Shardy with and without verification."""
    context = Context()
    propagated = parse(each.text, context)
    run_pipeline(propagated, PROPAGATION)
    least = floor.seconds(floor.read_and_write, propagated)
    ratios: list[Pairs] = []
    for python in pythons:
        peer = Peer(python, each.path)
        ratios += [
            pairs(
                lambda verify=verify: own_seconds(each.text, context, [PROPAGATION], verify=verify),
                lambda verify=verify, peer=peer: peer.seconds(PROPAGATION, verify=verify),
                runs,
            )
            for verify in (True, False)
        ]
        peer.close()
    count = each.num_operations
    alone = ratios[1].ours
    return [
        each.name,
        f"{count:,}",
        f"{1e6 * ratios[0].ours / count:.1f}",
        f"{1e6 * alone / count:.1f}",
        f"{alone / least:.0f}",
        *ratios,
    ]


def both(each: Program, python: str, runs: int) -> list[object]:
    """Return a row: propagation and partitioning together, compared with C++ Shardy 0.12."""
    context, peer = Context(), Peer(python, each.path)
    row: list[object] = [each.name]
    for verify in (True, False):
        found = pairs(
            lambda verify=verify: own_seconds(
                each.text, context, [PROPAGATION, PARTITION], verify=verify
            ),
            lambda verify=verify: peer.seconds(BOTH_BY_SHARDY, verify=verify),
            runs,
        )
        row += [f"{1e6 * found.ours / each.num_operations:.1f}", found]
    peer.close()
    return row


def beside_xla(each: Program, runs: int) -> list[object]:
    """Return a row: partitioning, compared with XLA's export and SPMD partitioning."""
    context = Context()
    propagated = parse(each.text, context)
    run_pipeline(propagated, PROPAGATION, verify_each=False)
    text = asm(propagated)

    def theirs() -> float:
        taken = partitioning_time(each.text, 8)
        return taken.export + taken.partitioning

    seconds = [
        (own_seconds(text, context, [PARTITION], verify=False, clock=time.perf_counter), theirs())
        for _ in range(runs)
    ]
    found = Pairs(seconds)
    return [each.name, f"{1e6 * found.ours / each.num_operations:.1f}", found]


def to_runnable(name: str, runs: int) -> list[object]:
    """Return a row: from the function to the executable, compared with `jax.jit`."""
    command = [sys.executable, "-c", TRACE, BENCH, name, str(runs)]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = Pairs([tuple(json.loads(line)) for line in output.splitlines()[1:]])
    return [name, f"{found.ours:.2f} s", found]


class PassTimes(Instrumentation):
    """The seconds of each pass."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._started = 0.0

    def before_pass(self, step: Step, module: ir.Module) -> None:
        """Start the clock."""
        del step, module
        self._started = time.process_time()

    def after_pass(self, step: Step, module: ir.Module) -> None:
        """Stop the clock."""
        del module
        self.seconds[step.argument] += time.process_time() - self._started


def profile(each: Program, runs: int) -> list[list[object]]:
    """Return rows: the time of the slowest passes, and of all others together."""
    context, taken = Context(), list[dict[str, float]]()
    for _ in range(runs + 1):
        module, times = parse(each.text, context), PassTimes()
        gc.collect()
        for pipeline in (PROPAGATION, PARTITION):
            run_pipeline(module, pipeline, instrumentation=[times], verify_each=False)
        taken.append(times.seconds)
    median = {
        name: statistics.median(one[name] for one in taken[1:]) / each.num_operations
        for name in taken[0]
    }
    whole = sum(median.values())
    ordered = sorted(median.items(), key=lambda entry: -entry[1])
    shown, others = ordered[:14], ordered[14:]
    rows: list[list[object]] = [
        [f"`{name}`", f"{1e6 * spent:.1f}", f"{spent / whole:.0%}"] for name, spent in shown
    ]
    rest = sum(spent for _, spent in others)
    return [*rows, [f"{len(others)} others", f"{1e6 * rest:.1f}", f"{rest / whole:.0%}"]]


def growth(folder: Path, sizes: Sequence[int]) -> list[list[object]]:
    """Return rows: time and memory for each operation of ever larger programs."""
    rows: list[list[object]] = []
    for size in sizes:
        path = folder / f"chain_{size}.mlir"
        path.write_text(chain(size))
        command = [sys.executable, BENCH / "propagation.py", path, "--memory-only"]
        kilobytes = int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        context, text = Context(), path.read_text()
        row: list[object] = [f"{size:,}"]
        for pipelines in ([PROPAGATION], [PROPAGATION, PARTITION]):
            seconds = [
                own_seconds(text, context, pipelines, verify=False)
                for _ in range(5 if size < 100_000 else 2)
            ]
            row.append(f"{1e6 * min(seconds) / size:.1f}")
        rows.append([*row, f"{1024 * kilobytes / size:,.0f}"])
    return rows


def start_up(runs: int) -> list[list[object]]:
    """Return rows: the time of whole commands on a small program."""
    scripts = Path(sys.executable).parent
    small = BENCH.parent / "examples" / "mlp.mlir"
    commands: dict[str, list[str | Path]] = {
        "`import pyshardy`": [sys.executable, "-c", "import pyshardy"],
        "`sdy-opt --help`": [scripts / "sdy-opt", "--help"],
        "`sdy-opt examples/mlp.mlir`": [scripts / "sdy-opt", small],
        "`sdy-opt --sdy-propagation-pipeline examples/mlp.mlir`": [
            scripts / "sdy-opt",
            "--sdy-propagation-pipeline",
            small,
        ],
    }
    environment = {**os.environ}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    rows: list[list[object]] = []
    for name, command in commands.items():
        seconds: list[float] = []
        for _ in range(runs + 1):
            start = time.perf_counter()
            subprocess.run(command, capture_output=True, check=True, env=environment)
            seconds.append(time.perf_counter() - start)
        kept = sorted(seconds[1:])
        rows.append([name, f"{1e3 * statistics.median(kept):.0f} ms", f"{1e3 * kept[0]:.0f} ms"])
    return rows


def second_program(runs: int) -> list[list[object]]:
    """Return rows: the fixed time of the pipelines, on a program of two operations."""
    context, text = Context(), chain(4)
    rows: list[list[object]] = []
    for name, pipeline in (("propagation", PROPAGATION), ("partitioning", PARTITION)):
        seconds: list[float] = []
        for _ in range(runs + 1):
            module = parse(text, context)
            if pipeline == PARTITION:
                run_pipeline(module, PROPAGATION)
            start = time.perf_counter()
            run_pipeline(module, pipeline)
            seconds.append(time.perf_counter() - start)
        kept = sorted(seconds[1:])
        title = f"{name} of a second program of 4 operations"
        rows.append([title, f"{1e3 * statistics.median(kept):.1f} ms", f"{1e3 * kept[0]:.1f} ms"])
    return rows


# --- The page -----------------------------------------------------------------------------------


def page(arguments: argparse.Namespace, folder: Path) -> str:
    """Measure everything, and return the text of the page, without what people write into it."""
    newer = os.environ.get("PYSHARDY_ORACLE_PYTHON")
    pythons = [sys.executable, *([newer] if newer else [])]
    runs, xla_runs = arguments.runs, arguments.xla_runs
    found = programs(folder, arguments.programs)
    sections = [f"{_machine()}\n"]

    def add(title: str, text: str) -> None:
        section = f"## {title}\n\n{text}"
        sections.append(section)
        print(section, file=sys.stderr, flush=True)

    titles = ["program", "operations", "us/op", "us/op, not verified", "x floor"]
    for name in (version("jaxlib"), "0.12")[: len(pythons)]:
        titles += [f"ratio to C++ of {name}", "not verified"]
    rows = [propagation(each, pythons, runs) for each in found]
    add("Propagation", table(titles, with_means(rows)))
    if newer:
        titles = ["program", "us/op", "ratio to C++ of 0.12", "us/op, not verified", "not verified"]
        text = table(titles, with_means([both(each, newer, runs) for each in found]))
        add("Propagation and partitioning", text)
    if xla_runs:
        titles = ["program", "us/op", "ratio to XLA"]
        text = table(titles, with_means([beside_xla(each, xla_runs) for each in found]))
        add("Partitioning beside XLA", text)
        names = [each.name for each in found if each.name != "training_step"]
        rows = [to_runnable(name, xla_runs) for name in names]
        text = table(["program", "ours", "ratio to `jax.jit`"], rows)
        add("From the function to the executable", text)
    titles = ["pass", "us/op", "share"]
    add(f"Passes of `{found[0].name}`", table(titles, profile(found[0], runs)))
    add("What the time is spent on", table(["part", *parts.PIPELINES], parts.rows(runs)))
    add("Passes that change nothing", table(["pass", "ms", "why"], idle_passes.rows(runs)))
    titles = ["operations", "propagation, us/op", "with partitioning", "bytes/op"]
    add("Growth", table(titles, growth(folder, arguments.sizes)))
    rows = [*start_up(2 * runs), *second_program(2 * runs)]
    add("Start-up", table(["command", "median", "least"], rows))
    return "\n".join(sections)


def _machine() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.split(": ")[1] for line in lines if line.startswith("model name")), "?")
    load = f"a load of {os.getloadavg()[2]:.1f}"
    return (
        f"Measured on {os.cpu_count()} cores of {model} with {load} by other processes, "
        f"{_python()}, jaxlib {version('jaxlib')}."
    )


def _python() -> str:
    """Return the version of Python, and how it was built."""
    arguments = str(sysconfig.get_config_var("CONFIG_ARGS"))
    is_optimized = "--enable-optimizations" in arguments or sys.base_prefix == "/usr"
    built = "with" if is_optimized else "without"
    return f"Python {platform.python_version()} built {built} profile-guided optimization"


MARK = "<!-- measured -->\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=7, help="of each side, in turn")
    parser.add_argument("--xla-runs", type=int, default=7, help="of what XLA compiles; 0 for none")
    parser.add_argument("--programs", nargs="+", default=[], help="only these")
    parser.add_argument("--sizes", type=int, nargs="+", default=[5_000, 50_000, 500_000])
    parser.add_argument("-o", "--output", type=Path, help="the page to write the tables into")
    arguments = parser.parse_args()
    for package in ("dialect", "python"):
        compileall.compile_dir(BENCH.parent / package, quiet=1)
    with tempfile.TemporaryDirectory() as folder:
        text = page(arguments, Path(folder))
    if arguments.output is not None:
        before = arguments.output.read_text().partition(MARK)[0]
        arguments.output.write_text(before + MARK + "\n" + text)


if __name__ == "__main__":
    main()
