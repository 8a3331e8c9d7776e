# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs from the cache equal computed ones; what decides a result decides a hit."""

import subprocess
import sys
from pathlib import Path

import pytest

import pyshardy as sdy
from mlir_sdy.diagnostics import collect, remarks
from pyshardy.auto.search.program_search import Search
from pyshardy.caching.store import CACHE, Entry, Store
from pyshardy.pipeline import Instrumentation, unregister
from pyshardy.pipeline.runner import VERIFY_ANALYSES
from pyshardy.rules.lookup import strict_rules
from pyshardy.rules.registry import temporary_rules

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = """
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(
    %w: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
    %v: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {?}]>,
                         tf.aliasing_output = 0 : i32})
    -> tensor<8x8xf32> {
  %0 = stablehlo.dot_general %w, %v, contracting_dims = [1] x [0]
    : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.custom_call @mine(%0) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
"""
RULES = """
import pyshardy as sdy
import {helper}

@sdy.sharding_rule("stablehlo.custom_call", target="mine")
def mine(op):
    return {helper}.text()
"""
HARDWARE = """
name = "mine"
flops_per_second = {flops}
bytes_per_second = 1e12
bytes_of_memory = 16e9
link = {{bytes_per_second = 1e11, seconds_to_start = 1e-6}}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv(CACHE, raising=False)
    monkeypatch.delenv(VERIFY_ANALYSES, raising=False)
    return tmp_path / "cache"


def entries(folder: Path) -> int:
    return len(list(folder.glob("*.sdycache")))


def propagated(folder: Path | None, program: str = PROGRAM, **options) -> tuple[str, list[str]]:
    """Return the text and the diagnostics of a propagated program."""
    module = sdy.parse(program)
    with collect() as told:
        sdy.propagate(module, cache=folder, **options)
    return sdy.asm(module, debug_info=True), list(map(str, told))


def is_hit(folder: Path, program: str = PROGRAM, **options) -> bool:
    """Propagate a program; return whether the result was in the cache."""
    before = entries(folder)
    propagated(folder, program, **options)
    return entries(folder) == before


def test_a_propagated_program_is_that_of_a_run_with_its_diagnostics(folder: Path):
    expected = propagated(None)
    assert "custom call @mine is unknown to SDY sharding rule registry" in expected[1][0]
    assert propagated(folder) == propagated(folder) == expected
    assert entries(folder) == 1


def test_a_partitioned_program_is_that_of_a_run(folder: Path):
    module = sdy.parse(PROGRAM)
    sdy.propagate(module)
    results = []
    for cache in (None, folder, folder):
        with collect() as told:
            results.append((sdy.partition(module, cache=cache), list(map(str, told))))
    (expected, said), *others = results
    assert entries(folder) == 1
    for program, told in others:
        assert sdy.asm(program.module, debug_info=True) == sdy.asm(expected.module, debug_info=True)
        assert (program.mesh, program.inputs, program.outputs, program.collectives, told) == (
            expected.mesh,
            expected.inputs,
            expected.outputs,
            expected.collectives,
            said,
        )
    assert expected.collectives


@pytest.mark.parametrize("name", ["mlp", "transformer_block", "transformer_block_fsdp"])
def test_examples_are_those_of_a_run(folder: Path, name: str):
    texts = []
    for cache in (None, folder, folder):
        module = sdy.parse(ROOT / "examples" / f"{name}.mlir")
        sdy.propagate(module, cache=cache)
        program = sdy.partition(module, cache=cache)
        ports = *program.inputs, *program.outputs
        texts.append((sdy.asm(module), sdy.asm(program.module), ports, program.collectives))
    assert entries(folder) == 2
    assert texts[0] == texts[1] == texts[2]


def test_the_record_of_a_stored_propagation_is_computed_when_asked(folder: Path):
    records = []
    for _ in range(2):
        module = sdy.parse(PROGRAM)
        with collect():
            records.append(sdy.propagate(module, cache=folder))
        assert records[-1].module is module
    with collect() as told:
        first, second = (
            (
                len(record),
                str(record.explain("%0")),
                str(record.explain(sdy.values(record.module)["%0"])),
            )
            for record in records
        )
    assert first == second
    assert first[0] > 0
    assert told == []
    assert sdy.asm(records[0].module) == sdy.asm(records[1].module)


def test_a_stored_record_refuses_values_of_a_module_that_has_changed(folder: Path):
    for _ in range(2):
        module = sdy.parse(PROGRAM.replace("@mine", "@Sharding"))
        record = sdy.propagate(module, cache=folder)
    sdy.run_pipeline(module, "sdy-partition-pipeline")
    with pytest.raises(ValueError, match="has changed"):
        record.explain(sdy.values(module)["%arg0"])


def test_what_decides_the_result_decides_the_hit(folder: Path, monkeypatch: pytest.MonkeyPatch):
    assert not is_hit(folder)
    assert is_hit(folder)
    assert not is_hit(folder, PROGRAM.replace("tensor<8x16xf32> {", "tensor<8x16xf32>  {"))
    assert not is_hit(folder, PROGRAM.replace('"x"=2', '"x"=4'))
    assert not is_hit(folder, conservative_propagation=True)
    with remarks():
        assert not is_hit(folder)
    with strict_rules(), pytest.raises(sdy.PipelineError):
        is_hit(folder)
    with monkeypatch.context() as patched:
        patched.setattr("pyshardy.caching.programs.producer", lambda: "another version")
        assert not is_hit(folder)
    assert is_hit(folder)


def test_observed_and_checked_runs_are_not_replaced(folder: Path, monkeypatch: pytest.MonkeyPatch):
    record = sdy.Propagation()
    for _ in range(2):
        with sdy.observed_by(record):
            propagated(folder)
        monkeypatch.setenv(VERIFY_ANALYSES, "1")
        propagated(folder)
        monkeypatch.delenv(VERIFY_ANALYSES)
    assert record.has_started
    assert not folder.exists()


def test_a_run_that_saves_modules_is_not_replaced(folder: Path, tmp_path: Path):
    for number in range(2):
        saved = tmp_path / str(number)
        saved.mkdir()
        propagated(folder, dump_directory=str(saved))
        assert list(saved.iterdir())
    assert not folder.exists()


def test_a_failure_is_not_kept(folder: Path):
    for _ in range(2):
        with strict_rules(), pytest.raises(sdy.PipelineError, match="unknown to SDY"):
            propagated(folder)
    assert not folder.exists()


def test_a_changed_rule_misses_also_in_a_file_that_it_imports(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.syspath_prepend(tmp_path)
    rules = tmp_path / "rules.py"

    def write(helper: str, text: str) -> None:
        (tmp_path / f"{helper}.py").write_text(f"def text():\n    return {text!r}\n")
        rules.write_text(RULES.format(helper=helper))

    texts = []
    for helper, text, expected in (
        ("helper_a", "i j -> i j", False),
        ("helper_a", "i j -> i j", True),
        ("helper_b", "i j -> j i", False),
    ):
        write(helper, text)
        with temporary_rules():
            sdy.load_rules(rules)
            assert is_hit(folder) == expected
            texts.append(propagated(folder)[0])
    assert texts[0] == texts[1] != texts[2]
    with temporary_rules():  # the file of the rules is the same
        sys.modules.pop("helper_b")
        (tmp_path / "helper_b.py").write_text("def text():\n    return 'i j -> k  j'\n")
        sdy.load_rules(rules)
        assert not is_hit(folder)
    assert not is_hit(folder)


def test_a_rule_depends_on_the_values_that_it_refers_to(folder: Path):
    for axis, expected in (("j", False), ("j", True), ("k", False)):
        with temporary_rules():
            table = {"result": ["i", axis]}

            @sdy.sharding_rule("stablehlo.custom_call", target="mine")
            def mine(_, table=table):
                return f"i j -> {' '.join(table['result'])}"

            assert is_hit(folder) == expected


def test_a_rule_of_unknown_content_disables_the_cache(folder: Path):
    unknown = object()
    with temporary_rules():

        @sdy.sharding_rule("stablehlo.custom_call", target="mine")
        def mine(_):
            return "i j -> i j" if unknown else None

        _, told = propagated(folder)
    assert told == [
        "warning: cache of programs: not used, since the sharding rule of 'stablehlo.custom_call "
        "@mine' refers to a value of type object, whose content isn't known"
    ]
    assert not folder.exists()


def test_a_changed_pass_misses(folder: Path):
    seen = []
    for name in ("@a", "@a", "@b"):

        @sdy.register_pass("my-pass", summary="Nothing")
        def my_pass(module, *, name: str = name):
            del module, name

        try:
            seen.append(is_hit(folder))
        finally:
            unregister("my-pass")
    assert seen == [False, True, False]


def test_the_content_of_hardware_counts_not_its_name(folder: Path, tmp_path: Path):
    module = sdy.parse(PROGRAM)
    with collect():
        sdy.propagate(module)

    def is_hit_for(name: str, flops: float) -> bool:
        file = tmp_path / name
        file.write_text(HARDWARE.format(flops=flops))
        before = entries(folder)
        with collect():
            sdy.partition(module, hardware=str(file), cache=folder)
        return entries(folder) == before

    assert not is_hit_for("a.toml", 1e14)
    assert is_hit_for("a.toml", 1e14)
    assert is_hit_for("b.toml", 1e14)
    assert not is_hit_for("b.toml", 2e14)


def test_an_entry_with_other_content_is_computed_again(folder: Path):
    expected = propagated(folder)
    key = next(folder.iterdir()).name.partition(".")[0]
    store = Store(folder, 1 << 30)
    good = store.read(key)
    assert good is not None
    for entry in (
        Entry({}, good.payload),
        Entry({"diagnostics": 3, "data": {}}, good.payload),
        Entry({"diagnostics": [["error"]], "data": {}}, good.payload),
        Entry(good.data, b"ML\xefR but not bytecode"),
        Entry(good.data, b'"other.operation"() : () -> ()'),
    ):
        store.write(key, entry)
        text, (warning, *told) = propagated(folder)
        assert "is damaged, or not a file of the cache: it isn't used" in warning
        assert (text, told) == expected
        assert propagated(folder) == expected


def test_a_partitioned_program_with_other_data_is_computed_again(folder: Path):
    module = sdy.parse(PROGRAM)
    with collect():
        sdy.propagate(module)
        expected = sdy.partition(module, cache=folder)
    key = next(folder.iterdir()).name.partition(".")[0]
    store = Store(folder, 1 << 30)
    good = store.read(key)
    assert good is not None
    for changed in ({}, {"mesh": 1}, {"shardings": [["x"], []]}, {"names": None}):
        data = {**good.data["data"], **changed} if changed else {}
        store.write(key, Entry({**good.data, "data": data}, good.payload))
        with collect() as told:
            program = sdy.partition(module, cache=folder)
        assert "is damaged" in told[0].message
        assert program.inputs == expected.inputs
        assert store.read(key) == good


def test_programs_with_resources_are_computed_since_names_would_change(folder: Path):
    program = """
module {
  sdy.mesh @mesh = <["x"=2]>
  func.func @main(%x: tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
      -> tensor<2xf32> {
    %c = stablehlo.constant dense_resource<weights> : tensor<2xf32>
    %0 = stablehlo.add %x, %c : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
{-# dialect_resources: {builtin: {weights: "0x040000000000803f00000040"}} #-}
"""
    for _ in range(2):
        module = sdy.parse(program, sdy.Context())
        sdy.propagate(module, cache=folder)
        assert "dense_resource<weights>" in sdy.asm(module)
    assert not folder.exists()


def test_automatic_sharding_keeps_its_solutions(folder: Path, monkeypatch: pytest.MonkeyPatch):
    found = sdy.auto_shard(PROGRAM, fixed=False, cache=folder)
    assert entries(folder) == 1
    fixed = found.fix("%w", ("x", None)).solve()
    assert entries(folder) == 2

    def search(*_: object, **__: object):
        raise AssertionError("searches")

    monkeypatch.setattr(Search, "solve", search)
    again = sdy.auto_shard(PROGRAM, fixed=False, cache=folder)
    assert sdy.asm(again.module) == sdy.asm(found.module)
    assert (again.cost, again.bound) == (found.cost, found.bound)
    assert again.notes == found.notes
    assert again.fix("%w", ("x", None)).solve().shardings == fixed.shardings
    for other in ({"memory": "1GiB"}, {"objective": "bytes"}, {"hardware": "cpu"}, {"axes": ["x"]}):
        with pytest.raises(AssertionError, match="searches"):
            sdy.auto_shard(PROGRAM, cache=folder, **{"fixed": False, **other})
    with pytest.raises(AssertionError, match="searches"):
        again.fix("%w", ("y", None)).solve()


def test_the_environment_variable_and_another_process(folder: Path, monkeypatch):
    monkeypatch.setenv(CACHE, str(folder))
    expected = propagated(None)
    assert entries(folder) == 1
    code = f"import pyshardy as sdy; sdy.propagate(sdy.parse({PROGRAM!r}))"
    for seed in "12":
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    assert entries(folder) == 1
    assert propagated(None) == expected
    assert propagated(False) == expected


def test_explanations_are_about_the_module_itself(folder: Path, monkeypatch: pytest.MonkeyPatch):
    with collect():
        expected = sdy.explain(sdy.parse(PROGRAM))
        monkeypatch.setenv(CACHE, str(folder))
        for _ in range(2):
            module = sdy.parse(PROGRAM)
            sdy.propagate(module)
            explained = sdy.explain(module)
            assert str(explained.collectives) == str(expected.collectives)
            assert str(explained.value("%0")) == str(expected.value("%0"))
    assert entries(folder) == 2  # of the propagation and of the summary


def test_observers_of_partitioning_see_a_run(folder: Path):
    class Steps(Instrumentation):
        count = 0

        def after_pass(self, step, module):
            del step, module
            self.count += 1

    module = sdy.parse(PROGRAM)
    with collect():
        sdy.propagate(module)
        for _ in range(2):
            steps = Steps()
            sdy.partition(module, instrumentation=[steps], cache=folder)
            assert steps.count
    assert not folder.exists()
