# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The server for coding agents, by the client of its SDK: in memory, and as a process."""

import contextlib
import json
import os
import sys

import anyio
import pytest
from anyio.from_thread import start_blocking_portal
from mcp import Client, StdioServerParameters, stdio_client

from pyshardy.mcp.requests import REQUESTS
from pyshardy.mcp.server import create_server

PROGRAM = """\
sdy.mesh @mesh = <["data"=2, "model"=4]>
func.func @main(
    %x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
    %w: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>})
    -> tensor<8x32xf32> {
  %hidden = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  %y = stablehlo.tanh %hidden : tensor<8x32xf32>
  return %y : tensor<8x32xf32>
}
"""
NESTED = f"func.func @f(%a: {'tuple<' * 100_000}i32{'>' * 100_000})"
SCRIPT = """\
import jax
from jax import numpy as jnp
from jax.sharding import PartitionSpec as P

import pyshardy as sdy


def layer(params, x):
    return jnp.tanh(x @ params["w"])


sdy.jax.trace(
    layer,
    {"w": jax.ShapeDtypeStruct((16, 32), jnp.float32)},
    jax.ShapeDtypeStruct((8, 16), jnp.float32),
    mesh=sdy.Mesh.of({"data": 2, "model": 4}),
    in_shardings=({"w": P("model")}, P("data")),
)
"""
PASS = """\
import pyshardy as sdy
from mlir_sdy.host import ir


@sdy.register_pass("rename-main")
def rename_main(module: ir.Module) -> None:
    \"\"\"Give the program a name.\"\"\"
    module.operation.attributes["sym_name"] = ir.StringAttr.get("renamed", module.context)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with programs, beside a file that is none of them."""
    folder = tmp_path_factory.mktemp("served") / "programs"
    (folder / "inner").mkdir(parents=True)
    (folder / "p.mlir").write_text(PROGRAM)
    (folder / "inner" / "wrong.mlir").write_text(PROGRAM.replace(".tanh", ".tahn"))
    (folder / "crash.mlir").write_text(NESTED)
    (folder / "model.py").write_text(SCRIPT)
    (folder / "passes.py").write_text(PASS)
    (folder / "dynamic.mlir").write_text(PROGRAM.replace("8x", "?x"))
    (folder / "limits.toml").write_text('limits = ["no all_gather", "at most 1 all_reduce"]\n')
    secret = folder.parent / "secret.mlir"
    secret.write_text(PROGRAM)
    (folder / "link.mlir").symlink_to(secret)
    (folder / "loop.mlir").symlink_to(folder / "loop.mlir")
    os.mkfifo(folder / "pipe.mlir")
    return folder


@contextlib.contextmanager
def asking(server):
    """A function that calls tools of a server, and returns the answers."""

    def ask(tool, **arguments):
        result = portal.call(client.call_tool, tool, arguments)
        assert json.loads(result.content[0].text) == result.structured_content
        assert result.is_error == ("errors" in result.structured_content)
        return result.structured_content

    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(server)) as client,
    ):
        yield ask


@pytest.fixture(scope="module")
def ask(folder):
    """Calls tools of a server that runs no code."""
    with asking(create_server(folder)) as ask:
        yield ask


def message(answer):
    (problem,) = answer["errors"]
    return problem["message"]


def test_descriptions_are_short_and_schemas_complete(folder):
    async def listed():
        async with Client(create_server(folder)) as client:
            return (await client.list_tools()).tools

    tools = anyio.run(listed)
    assert [tool.name for tool in tools] == list(REQUESTS)
    for tool in tools:
        assert tool.annotations.read_only_hint
        assert len(tool.description) < 250
        assert tool.input_schema["additionalProperties"] is False
        for name, schema in tool.input_schema["properties"].items():
            assert "enum" in schema or len(schema.get("description", "")) > 10, (tool.name, name)
    assert sum(len(str(tool.model_dump(exclude_none=True))) for tool in tools) < 8000


def test_an_agent_shards_a_program(ask):
    """It sees a collective, tries another sharding, and checks the contract that it has then."""
    cause = ask("collectives", program="p.mlir", form="jax")["collectives"]
    assert [(each["kind"], each["axes"]) for each in cause] == [("all_reduce", ["model"])]
    assert cause[0]["location"] == "p.mlir:6:13"
    assert "instead of" in cause[0]["text"]
    contract = "no all_reduce"
    assert not ask("check_contract", program="p.mlir", contract=contract)["holds"]

    tried = ask("what_if", program="p.mlir", shardings={"%w": "P(None, 'model')"})
    assert tried["summary"].startswith("768 -> 0 bytes sent")
    weight, result = tried["difference"]["ports"]
    assert weight["second"] == '<@mesh, [{}, {"model"}]>'
    assert result["second"] == '<@mesh, [{"data"}, {"model"}]>'
    assert tried["added"] == []


def test_why_a_value_has_its_sharding(ask):
    (found,) = ask("explain", program="p.mlir", values=["%y"])["values"]["%y"]
    assert found["sharding"] == '<@mesh, [{"data", ?}, {?}]>'
    assert found["axes"]["data"] == {"kind": "sharded"}
    (remedy,) = found["axes"]["model"]["what_if"].items()
    changed = ask("what_if", program="p.mlir", shardings=dict([remedy]))
    assert "errors" not in changed


def test_a_summary(ask):
    answer = ask("explain", program="p.mlir", most=1, mesh="data:2,model:2")
    assert answer["mesh"] == '<["data"=2, "model"=2]>'
    assert answer["inputs_in_all"] == 2
    assert len(answer["inputs"]) == 1
    assert answer["collectives"][0]["axes"] == "model"
    assert answer["cost"]["hardware"] == "NVIDIA H100 SXM"


def test_contracts(ask):
    kept = ask("check_contract", program="p.mlir", contract="limits.toml")
    assert kept == {"holds": True, "violations": [], "advice": []}
    broken = ask("check_contract", program="p.mlir", contract="no all_reduce along model")
    assert "all_reduce along model at p.mlir:6:13" in broken["violations"][0]["because"][0]


def test_dynamic_sizes_have_their_hints(ask):
    for tool, arguments in (
        ("explain", {"values": ["%x"]}),
        ("what_if", {"shardings": {"%x": "P()"}}),
        ("collectives", {}),
        ("check_contract", {"contract": "no all_gather"}),
    ):
        (told,) = ask(tool, program="dynamic.mlir", **arguments)["warnings"]
        assert told["message"].endswith("has dynamic sizes: all is told for their hints alone")


def test_automatic_sharding_fits_what_if(ask):
    plan = ask("auto_shard", program="p.mlir", free=True, hardware="tpu-v5e")
    assert plan["cost"] >= plan["bound"] * (1 - 1e-6)
    assert "errors" not in ask("what_if", program="p.mlir", shardings=plan["shardings"])


def test_passes(ask):
    done = ask("run_pipeline", program="p.mlir", pipeline="sdy-propagation-pipeline,canonicalize")
    assert "%0 = stablehlo.dot_general" in done["module"]
    assert "sdy-close-shardings" in ask("list_passes", word="close")["passes"]
    assert "Close the dimensions" in ask("help", topic="sdy-close-shardings")["help"]
    assert "usage: sdy-explain" in ask("help", topic="sdy-explain")["help"]
    assert "at most 8MB" in ask("help", topic="contracts")["help"]
    assert message(ask("help", topic="contract")).endswith("did you mean 'contracts'?")


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("explain", {}, "needs the argument 'program'"),
        ("explain", {"programm": "p.mlir"}, "did you mean 'program'?"),
        ("explain", {"program": 3}, "should be a valid string, got: 3"),
        ("explain", {"program": "p.mlr"}, "there is no such file; did you mean 'p.mlir'?"),
        ("explain", {"program": "p.mlir", "values": ["%z"]}, "no value '%z'"),
        ("explain", {"program": "p.mlir", "hardware": "h10"}, "did you mean 'h100'?"),
        ("explian", {"program": "p.mlir"}, "did you mean 'explain'?"),
        ("collectives", {"program": "p.mlir", "axis": "modle"}, "did you mean 'model'?"),
        ("collectives", {"program": "p.mlir", "kind": "all_gathr"}, "did you mean 'all_gather'?"),
        ("what_if", {"program": "p.mlir", "shardings": {"%x": "model"}}, "P('model', None)"),
        ("run_pipeline", {"program": "p.mlir", "pipeline": "cse,sdy-x"}, "unknown pass 'sdy-x'"),
    ],
)
def test_mistakes_say_what_to_do(ask, tool, arguments, expected):
    assert expected in message(ask(tool, **arguments))


def test_an_error_in_a_program_has_its_place(ask):
    (problem,) = ask("explain", program="inner/wrong.mlir")["errors"]
    assert (problem["filename"], problem["line"], problem["column"]) == ("inner/wrong.mlir", 8, 8)
    assert "did you mean 'stablehlo.tanh'?" in problem["message"]


@pytest.mark.parametrize(
    "name",
    ["../secret.mlir", "inner/../../secret.mlir", "link.mlir", "/etc/passwd", "loop.mlir", "a\0b"],
)
def test_files_outside_of_the_folder_are_refused(ask, name):
    assert "cannot open" in message(ask("explain", program=name))


def test_other_arguments_read_no_files_outside(ask):
    for arguments in (
        {"hardware": "../h.toml"},
        {"contract": "../limits.toml"},
    ):
        answer = ask(
            "check_contract", **{"program": "p.mlir", "contract": "no all_gather", **arguments}
        )
        assert "is outside of the folder" in message(answer)
    outside = "sdy-partition-pipeline{hardware=/h.toml}"
    assert "outside" in message(ask("run_pipeline", program="p.mlir", pipeline=outside))


def test_what_is_no_file_is_not_read(ask):
    assert "no regular file" in message(ask("explain", program="pipe.mlir"))
    assert "no regular file" in message(ask("explain", program="inner"))


@pytest.mark.parametrize(
    "pipeline",
    ["sdy-propagation-pipeline{dump-directory=dumps}", "snapshot-op-locations{filename=places}"],
)
def test_passes_write_no_files(ask, folder, pipeline):
    answer = ask("run_pipeline", program="p.mlir", pipeline=pipeline)
    assert "passes that may read or write files" in message(answer)
    assert not (folder / "dumps").exists()


def test_code_is_run_only_if_allowed(ask, folder):
    refused = "this server doesn't run code"
    assert refused in message(ask("explain", program="model.py"))
    calls = {"program": "p.mlir", "pipeline": "rename-main", "load_passes": ["passes.py"]}
    assert refused in message(ask("run_pipeline", **calls))

    with asking(create_server(folder, allows_code=True)) as allowed:
        explained = allowed("explain", program="model.py", values=["params['w']"])
        # The first one leaves nothing behind for the second.
        one, again = (allowed("run_pipeline", **calls) for _ in range(2))
        outside = allowed("explain", program="../secret.py")
    (weight,) = explained["values"]["params['w']"]
    assert weight["sharding"] == "P('model', None)"
    assert "module @renamed" in one["module"]
    assert one == again
    assert "cannot open" in message(outside)


def test_a_script_that_fails_or_traces_nothing(folder):
    (folder / "fails.py").write_text("import os\n\nos.chdir('nowhere')\n")
    (folder / "nothing.py").write_text("print('no trace')\n")
    with asking(create_server(folder, allows_code=True)) as ask:
        fails, nothing = (ask("explain", program=name) for name in ("fails.py", "nothing.py"))
    assert fails["errors"][0]["line"] == 3
    assert "FileNotFoundError" in message(fails)
    assert "it traces 0" in message(nothing)


def test_a_crash_and_a_slow_request_end_only_themselves(folder):
    (folder / "hang.py").write_text("import time\n\ntime.sleep(1000)\n")
    with asking(create_server(folder, allows_code=True, timeout=8)) as ask:
        assert "the analysis crashed" in message(ask("explain", program="crash.mlir"))
        assert ask("list_passes", word="close")["passes"]
        assert "no answer within 8 s" in message(ask("explain", program="hang.py"))
        assert ask("list_passes", word="close")["passes"]


def test_a_cancelled_request_ends(folder):
    """The next request would wait for it otherwise."""
    (folder / "hang.py").write_text("import time\n\ntime.sleep(1000)\n")

    async def ask():
        server = create_server(folder, allows_code=True, timeout=1000)
        async with Client(server) as client:
            with anyio.move_on_after(1) as given_up:
                await client.call_tool("explain", {"program": "hang.py"})
            answer = await client.call_tool("list_passes", {"word": "close"})
            return given_up.cancelled_caught, answer.structured_content

    is_cancelled, answer = anyio.run(ask)
    assert is_cancelled
    assert answer["passes"]


def test_over_standard_input_and_output(folder):
    arguments = ["-m", "pyshardy", "mcp", str(folder)]
    parameters = StdioServerParameters(
        command=sys.executable, args=arguments, env=dict(os.environ), cwd=folder
    )

    async def ask():
        async with Client(stdio_client(parameters)) as client:
            assert "what_if" in client.instructions
            tools = await client.list_tools()
            answer = await client.call_tool("collectives", {"program": "p.mlir"})
            return tools.tools, answer.structured_content

    tools, answer = anyio.run(ask)
    assert [tool.name for tool in tools] == list(REQUESTS)
    assert answer["nbytes_sent"] == 768


def test_bad_flags(capsys):
    from pyshardy.mcp.main import main  # noqa: PLC0415

    assert main(["no-such-folder"]) == 1
    assert "there is no folder 'no-such-folder'" in capsys.readouterr().err
    assert main([".", "--timeout=0"]) == 1
    assert "'--timeout' is more than 0 seconds" in capsys.readouterr().err
