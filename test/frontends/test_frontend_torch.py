# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules of PyTorch come in, and compute sharded what they compute eagerly."""

import inspect
import sys

import numpy as np
import pytest
import torch
from torch import nn
from torch._dynamo import trace_rules
from torch.autograd import forward_ad
from torch.fx.proxy import TracerBase
from torch.masked import masked_tensor
from torch.utils import _pytree

import pyshardy as sdy
from mlir_sdy.diagnostics import PassError, SourceLocation, UsageError
from mlir_sdy.traversal import operations_in
from mlir_sdy.values import argument_shardings
from pyshardy.frontends.torch import importing, lowerings
from pyshardy.frontends.torch.decompositions import decomposition_of
from pyshardy.irtools.locations import scopes_of
from pyshardy.program import run_unpartitioned

MESH = sdy.Mesh.of({"data": 2, "model": 4})


def function(forward):
    """A module without weights."""
    return type("Function", (nn.Module,), {"forward": lambda _, *args: forward(*args)})()


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query = nn.Linear(16, 16)

    def forward(self, x):
        q = self.query(x)
        return nn.functional.scaled_dot_product_attention(q, q, q, is_causal=True)


class WithConstant(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.tensor([1.0, 2.0, 4.0]))
        self.register_buffer("hidden", torch.ones(3), persistent=False)

    def forward(self, x):
        return x * self.scale + torch.tensor([1.0, 2.0, 3.0]) + self.hidden


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(12, 8)
        self.head = nn.Linear(8, 12, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, tokens):
        return self.head(self.embedding(tokens))


def convnet():
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(128, 4),
    )


COLUMNS, ROWS = ("model", None), (None, "model")
CASES = {
    "mlp": (
        lambda: nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 4)),
        lambda: (torch.randn(6, 8),),
        {"0.weight": COLUMNS, "0.bias": ("model",), "2.weight": ROWS, "input": ("data", None)},
    ),
    "convolutions": (
        lambda: convnet().eval(),
        lambda: (torch.randn(2, 3, 8, 8),),
        {"0.weight": ("model", None, None, None), "input": (None, None, "data", None)},
    ),
    "encoder": (
        lambda: nn.TransformerEncoderLayer(16, 4, 32, batch_first=True).eval(),
        lambda: (torch.randn(4, 6, 16),),
        {"linear1.weight": COLUMNS, "linear2.weight": ROWS, "src": ("data", None, None)},
    ),
    "equal operands": (  # which come from one decomposition
        lambda: function(
            lambda x: nn.functional.scaled_dot_product_attention(
                *(part.unflatten(2, (2, -1)).transpose(1, 2) for part in x.chunk(3, 2))
            )
        ),
        lambda: (torch.randn(4, 5, 24),),
        {"args_0": ("data", None, None)},
    ),
    "attention": (Attention, lambda: (torch.randn(2, 5, 16),), {"query.weight": COLUMNS}),
    "lstm": (
        lambda: nn.LSTM(8, 8, batch_first=True),
        lambda: (torch.randn(4, 3, 8),),
        {"input": ("data", None, None)},
    ),
    "constants": (WithConstant, lambda: (torch.randn(8, 3),), {"x": ("model", None)}),
    "tied weights": (Tied, lambda: (torch.randint(12, (4, 6)),), {"embedding.weight": COLUMNS}),
    "uneven": (
        lambda: nn.Linear(7, 5),
        lambda: (torch.randn(3, 7),),
        {"weight": sdy.sharding('<@mesh, [{"data"}, {"model", ?}]>'), "input": ("model", None)},
    ),
    "sort": (
        lambda: function(lambda x: (torch.cumsum(x, 0), torch.sort(x, 0)[0], torch.topk(x, 2)[1])),
        lambda: (torch.randn(4, 8),),
        {"*": ROWS},
    ),
}
TYPES = {
    "bfloat16": lambda: torch.randn(8).bfloat16(),
    "float16": lambda: torch.randn(8).half(),
    "float64": lambda: torch.randn(8).double(),
    "int8": lambda: torch.arange(8, dtype=torch.int8),
    "uint8": lambda: torch.arange(8, dtype=torch.uint8),
    "int64": lambda: torch.arange(8) * 2**40,
    "bool": lambda: torch.arange(8) % 3 == 0,
}


def partitioned(traced):
    sdy.propagate(traced.module)
    return sdy.partition(traced.module)


def leaves(tree):
    return _pytree.tree_leaves(tree)


# `torch.export` refuses the weights of an LSTM up to 2.9, and gives its states another shape than
# they have up to 2.12. The importer has no part in it.
EXPORTS_LSTM = tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 13)
MARKS = {"lstm": pytest.mark.xfail(not EXPORTS_LSTM, reason="PyTorch can't export it", strict=True)}


@pytest.mark.parametrize("name", [pytest.param(name, marks=MARKS.get(name, ())) for name in CASES])
def test_numbers(name):
    torch.manual_seed(0)
    make, make_inputs, shardings = CASES[name]
    module, inputs = make(), make_inputs()
    traced = sdy.torch.trace(module, *inputs, mesh=MESH, shardings=shardings)
    program = partitioned(traced)
    assert any(one and one.dim_axes for one in program.in_shardings)
    outputs = traced.outputs(program.run(traced.inputs(*inputs), backend="xla"))
    for ours, eager in zip(leaves(outputs), leaves(module(*inputs)), strict=True):
        assert ours.dtype == eager.dtype
        torch.testing.assert_close(ours, eager, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", TYPES)
def test_types(name):
    x = TYPES[name]()
    module = function(lambda x: (torch.where(x > x[0], x, x[1]), x == x[2]))
    traced = sdy.torch.trace(module, x, mesh=MESH, shardings={"*": ("model",)})
    outputs = traced.outputs(partitioned(traced).run(traced.inputs(x)))
    for ours, eager in zip(outputs, module(x), strict=True):
        assert ours.dtype == eager.dtype
        assert torch.equal(ours, eager)


def test_arguments_are_weights_buffers_constants_and_inputs():
    traced = sdy.torch.trace(WithConstant(), torch.ones(3), mesh=MESH)
    assert traced.arguments == ("scale", "hidden", "lifted_tensor_0", "x")
    assert set(traced.state) == {"scale", "hidden", "lifted_tensor_0"}
    names = [port.name for port in sdy.partition(traced.module).inputs]
    assert names == list(traced.arguments)


def test_weights_are_those_of_now():
    module = nn.Linear(4, 4)
    x = torch.ones(2, 4)
    traced = sdy.torch.trace(module, x, mesh=MESH, shardings={"weight": COLUMNS})
    program = partitioned(traced)
    with torch.no_grad():
        module.weight.zero_()
        module.bias.fill_(3)
    (output,) = program.run(traced.inputs(x))
    assert (output == 3).all()


def test_updated_buffers_are_results():
    module = nn.BatchNorm2d(8)
    x = torch.randn(4, 8, 6, 6)
    traced = sdy.torch.trace(module, x, mesh=MESH, shardings={"input": ("data", None, None, None)})
    assert traced.results == ("running_mean", "running_var", "num_batches_tracked", "output")
    arrays = partitioned(traced).run(traced.inputs(x), backend="xla")
    expected = module(x)  # which updates them
    torch.testing.assert_close(traced.outputs(arrays), expected, rtol=1e-4, atol=1e-5)
    for name, array in zip(traced.results[:3], arrays, strict=False):
        np.testing.assert_allclose(array, getattr(module, name), rtol=1e-4, atol=1e-6)


def test_trees_of_inputs_and_outputs():
    class Model(nn.Module):
        def forward(self, pair, *, named):
            return {"sum": pair[0] + named, "list": [pair[1]]}

    pair, named = (torch.ones(4), torch.arange(2.0)), torch.arange(4.0)
    traced = sdy.torch.trace(
        Model(), pair, kwargs={"named": named}, mesh=MESH, shardings={"named": ("model",)}
    )
    outputs = traced.outputs(partitioned(traced).run(traced.inputs(pair, named=named)))
    assert torch.equal(outputs["sum"], pair[0] + named)
    assert torch.equal(outputs["list"][0], pair[1])
    with pytest.raises(
        UsageError, match=r"traced for inputs like \(\(\*, \*\), named=\*\), got: \(\*\)"
    ):
        traced.inputs(named)


def test_keyword_inputs_in_any_order():
    class Model(nn.Module):
        def forward(self, **named):
            return named["a"] - named["b"]

    a, b = torch.ones(4), torch.arange(4.0)
    traced = sdy.torch.trace(Model(), kwargs={"a": a, "b": b})
    arrays = run_unpartitioned(traced.module, traced.inputs(b=b, a=a))
    assert torch.equal(traced.outputs(arrays), a - b)


@pytest.mark.parametrize(
    "x", [torch.ones(4).to(torch.float8_e5m2), (1j * torch.ones(2)).conj().imag]
)
def test_tensors_that_numpy_lacks(x):
    traced = sdy.torch.trace(function(torch.clone), x)
    arrays = run_unpartitioned(traced.module, traced.inputs(x), "xla")
    torch.testing.assert_close(traced.outputs(arrays), x)


WRONG_INPUTS = {
    "module": (nn.ReLU(), "an input is a module, 'ReLU'"),
    "nested": (torch.nested.nested_tensor([torch.ones(1)]), "nested tensor, .*; pad it"),
    "quantized": (
        torch.quantize_per_tensor(torch.ones(1), 0.1, 0, torch.qint8),
        "quantized tensor, .*; dequantize it",
    ),
    "masked": (masked_tensor(torch.ones(1), torch.ones(1) > 0), "masked tensor, .* its mask"),
    "oneDNN": (torch.ones(1).to_mkldnn(), "oneDNN tensor, .*; call its 'to_dense'"),
    "array": (np.ones(1), "an input has the type 'numpy.ndarray'; give tensors"),
    "integers": (torch.ones(1).to(torch.uint16), "tensor of uint16, .*convert it before"),
}


@pytest.mark.parametrize("name", WRONG_INPUTS)
def test_inputs_without_a_conversion(name):
    given, message = WRONG_INPUTS[name]
    with pytest.raises((PassError, UsageError), match=message):
        sdy.torch.trace(function(torch.clone), given)
    with pytest.raises(UsageError, match="'kwargs' must have inputs by their names, got: list"):
        sdy.torch.trace(function(torch.clone), kwargs=[given])


def test_buffers_without_a_conversion():
    module = nn.Identity()
    module.register_buffer("scale", torch.ones(1).to_mkldnn())
    with pytest.raises(UsageError, match="'scale' of the module is a oneDNN tensor"):
        sdy.torch.trace(module, torch.ones(1))


def test_what_is_no_tensor_is_fixed():
    class Model(nn.Module):
        def forward(self, x, count, extra=None):
            return x * count, count, extra, x + 1

    x = torch.ones(4)
    traced = sdy.torch.trace(Model(), x, 3, mesh=MESH, shardings={"x": ("model",)})
    assert (traced.arguments, traced.results) == (("x",), ("output", "output 1"))
    outputs = traced.outputs(partitioned(traced).run(traced.inputs(x, 3)))
    assert torch.equal(outputs[0], x * 3)
    assert outputs[1:3] == (3, None)
    with pytest.raises(UsageError, match="traced for the constant 3, got: 4"):
        traced.inputs(x, 4)
    with pytest.raises(UsageError, match=r"'x' must be a torch.Tensor, got: int"):
        traced.inputs(1, 3)


def test_repeated_inputs():
    class Difference(nn.Module):
        def forward(self, x, y):
            return x - 2 * y

    x, y = torch.randn(4), torch.randn(4)
    traced = sdy.torch.trace(Difference(), x, x)
    (result,) = run_unpartitioned(traced.module, traced.inputs(x, y), "xla")
    np.testing.assert_allclose(result, x - 2 * y, rtol=1e-6)


def test_rules_that_pytorch_reads_again():
    """PyTorch drops its rules for functions when `torch.distributed` starts, for example."""
    trace_rules.clear_lru_cache()
    branches = function(lambda x: torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,)))
    x = torch.ones(4)
    traced = sdy.torch.trace(branches, x)
    np.testing.assert_allclose(run_unpartitioned(traced.module, traced.inputs(x))[0], x.sin())


def test_exported_programs():
    exported = torch.export.export(nn.Linear(8, 4), (torch.ones(2, 8),))
    traced = sdy.torch.trace(exported, mesh=MESH, shardings={"weight": COLUMNS})
    assert argument_shardings(entry_of(traced.module))[0] == sdy.sharding(
        '<@mesh, [{"model"}, {}]>'
    )
    with pytest.raises(UsageError, match="already contains its inputs"):
        sdy.torch.trace(exported, torch.ones(2, 8))


def entry_of(module):
    return next(view for view in module.body.operations if view.operation.name == "func.func")


def test_operations_lead_to_the_source_of_the_user():
    traced = sdy.torch.trace(
        Attention(), torch.ones(2, 4, 16), mesh=MESH, shardings={"x": ("data", "model", None)}
    )
    _, first_line = inspect.getsourcelines(Attention.forward)
    places = {one.location for one in partitioned(traced).collectives}
    assert {place.filename for place in places} == {__file__}
    assert {place.line for place in places} <= {first_line + 1, first_line + 2}


def test_operations_have_the_scopes_of_their_modules():
    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.up = nn.Linear(4, 4)

        def forward(self, x):
            return x + torch.tanh(self.up(x))

    model = nn.Sequential(nn.Sequential(Layer(), Layer()), nn.Linear(4, 4))
    traced = sdy.torch.trace(model, torch.ones(2, 4), mesh=MESH)
    body = entry_of(traced.module).regions[0].blocks[0].operations
    found = {(op.operation.name, scopes_of(op.operation.location)) for op in body}
    for layer in ("0.0", "0.1"):
        assert ("stablehlo.dot_general", (layer, "up")) in found
        assert ("stablehlo.tanh", (layer,)) in found
    assert ("stablehlo.dot_general", ("1",)) in found
    assert "pyshardy.scope" not in sdy.asm(traced.module)


# --- Errors -------------------------------------------------------------------------------------


class Refused(nn.Module):
    """A module whose operation can't be expressed in StableHLO."""

    def __init__(self, operation):
        super().__init__()
        self.operation = operation

    def forward(self, x):
        return self.operation(x + 1)


REFUSED = {
    "a shape of values": (torch.nonzero, PassError, "'aten.nonzero' has a result whose shape"),
    "a mask": (lambda x: x[x > 0], PassError, "replace an index of booleans by torch.where"),
    "a number": (
        lambda x: nn.functional.elu(x, x.sum().item()),
        PassError,
        "'aten.elu' needs a number",
    ),
    "a decision": (lambda x: x if x.sum() > 0 else -x, UsageError, "use torch.where, torch.cond"),
    "equality": (lambda x: x + torch.equal(x, x), UsageError, "'aten.equal' takes a number out"),
    "a derivative": (
        lambda x: forward_ad.dual_level()(forward_ad.make_dual)(x, x),
        PassError,
        "'torch.autograd.forward_ad', .*uses torch.func.jvp",
    ),
    "no conversion": (
        torch.special.airy_ai,
        PassError,
        "cannot convert 'aten.special_airy_ai' of PyTorch to StableHLO",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_name_the_operation_and_its_line(name):
    operation, kind, message = REFUSED[name]
    with pytest.raises(kind, match=message) as caught:
        sdy.torch.trace(Refused(operation), torch.ones(3, 3))
    place = caught.value.diagnostics[0].location
    _, line = inspect.getsourcelines(Refused.forward)
    lines = (
        {line + 1, operation.__code__.co_firstlineno}
        if inspect.isfunction(operation)
        else {line + 1}
    )
    assert (place.filename, place.line) in {(__file__, each) for each in lines}


def helper(x):
    return torch.special.airy_ai(x)


@pytest.mark.skipif(
    not hasattr(TracerBase, "_filter_traceback_frames"), reason="PyTorch keeps frames of forward"
)
def test_refusals_name_the_line_of_the_innermost_function():
    with pytest.raises(PassError, match=r"'aten.special_airy_ai'") as caught:
        sdy.torch.trace(Refused(lambda x: 2 * helper(x)), torch.ones(3))
    line = helper.__code__.co_firstlineno + 1
    assert caught.value.diagnostics[0].location == SourceLocation(__file__, line, 0)


def test_failures_of_conversions_name_the_operation(monkeypatch):
    def without_cumsum(operation):
        return None if "cumsum" in str(operation) else decomposition_of(operation)

    def failing(*_):
        raise ValueError("there is no such type")

    refused = Refused(lambda x: torch.cumsum(x + 0j, 0))
    with monkeypatch.context() as patches:
        patches.setattr(importing, "decomposition_of", without_cumsum)
        with pytest.raises(PassError, match=r"'aten.cumsum' .*the importer ended its process"):
            sdy.torch.trace(refused, torch.ones(3, 3))
    with monkeypatch.context() as patches:
        patches.setattr(lowerings, "lowering_of", lambda _: failing)
        with pytest.raises(PassError, match=r"'aten.softmax.int' .*there is no such type"):
            sdy.torch.trace(nn.Softmax(0), torch.ones(3, 3))


def asserted(x):
    assert (x > 0).all()
    return x


def looped(x):
    while x.mean() < 9:
        x = x * 2
    return x


def branched(x):
    positive = (x > 0).all()
    if positive:
        return x * 2
    return x


def branched_on_both(x):
    if x is not None and not (x > 0).all():
        return x * 2
    return x


def looped_over_rows(x):
    for row in torch.nonzero(x):
        x = x + row[0]
    return x


IN_PYTHON = {
    "a loop over rows": (
        looped_over_rows,
        r"'for row in torch.nonzero\(x\)' needs the values of tensors.*; use torch.while_loop, or",
    ),
    "a branch on a name": (branched, "'positive' needs the values of tensors"),
    "a part of a condition": (
        branched_on_both,
        r"'x is not None and not \(x > 0\).all\(\)' needs the values",
    ),
    "an assertion": (asserted, "remove the assertion, or check the values outside of the module"),
    "a loop": (looped, "'x.mean\\(\\) < 9' needs the values of tensors.*; use .*torch.while_loop"),
    "a function": (lambda x: sorted([x[0, 0], x[0, 1]])[0], "use torch.sort of a tensor"),
}


@pytest.mark.parametrize("name", IN_PYTHON)
def test_refusals_of_code_in_submodules(name):
    function, message = IN_PYTHON[name]
    if sys.version_info < (3, 11):  # which doesn't know the expression
        message = "depends on the values of tensors.*; use torch.where, torch.cond"
    model = nn.Sequential(nn.Linear(3, 3), nn.Sequential(Refused(function)))
    with pytest.raises(UsageError, match=message) as caught:
        sdy.torch.trace(model, torch.ones(3, 3))
    first = function.__code__.co_firstlineno
    place = caught.value.diagnostics[0].location
    assert place.filename == __file__
    assert first <= place.line <= first + 2


def test_wrong_requests():
    _, line = inspect.getsourcelines(Refused.forward)
    with pytest.raises(UsageError, match="the module returns a value of the type 'object'") as one:
        sdy.torch.trace(Refused(lambda x: (x, object())), torch.ones(3))
    assert one.value.diagnostics[0].location == SourceLocation(__file__, line + 1, 0)
    with pytest.raises(UsageError, match=r"module fails \(KeyError\): there is no key 'b'") as one:
        sdy.torch.trace(Refused(lambda x: {"a": x}["b"]), torch.ones(3))
    assert one.value.diagnostics[0].location.filename == __file__
    with pytest.raises(PassError, match=r"'aten.softmax.int' is along dimension 7") as one:
        sdy.torch.trace(Refused(lambda x: torch.softmax(x, 7)), torch.ones(3))
    assert one.value.diagnostics[0].location.filename == __file__
    with pytest.raises(PassError, match=r"'aten.silu' takes floating-point numbers only; convert"):
        sdy.torch.trace(Refused(nn.functional.silu), torch.ones(3, dtype=torch.int32))
    linear, x = nn.Linear(4, 4), torch.ones(2, 4)
    with pytest.raises(UsageError, match=r"expected a torch.nn.Module, got: function"):
        sdy.torch.trace(torch.nn.functional.relu, x)
    with pytest.raises(
        UsageError, match="refers to the mesh @mesh, which is not declared; pass 'mesh'"
    ):
        sdy.torch.trace(linear, x, shardings={"weight": COLUMNS})
    with pytest.raises(UsageError, match="no argument matches 'wieght'; did you mean 'weight'"):
        sdy.torch.trace(linear, x, mesh=MESH, shardings={"wieght": COLUMNS})
    with pytest.raises(sdy.VerificationError, match='the mesh has no axis "tensor"'):
        sdy.torch.trace(linear, x, mesh=MESH, shardings={"weight": ("tensor", None)})
    traced = sdy.torch.trace(linear, x, mesh=MESH, shardings={"weight": COLUMNS})
    with pytest.raises(UsageError, match=r"must be an array of float32 of shape \(2, 4\)"):
        partitioned(traced).run(traced.inputs(torch.ones(3, 4)))


def test_channels_are_normalized_without_gathers():
    module, x = nn.GroupNorm(2, 4), torch.randn(8, 4, 3, 3)
    traced = sdy.torch.trace(module, x, mesh=MESH, shardings={"input": ("data", None, None, None)})
    names = {each.operation.name for each in operations_in(traced.module.operation)}
    assert "stablehlo.gather" not in names
    program = partitioned(traced)
    assert not program.collectives
    expected = module(x)
    torch.testing.assert_close(traced.outputs(program.run(traced.inputs(x))), expected)


def test_queries_whose_keys_are_all_masked():
    class Attention(nn.Module):
        def forward(self, x, mask):
            return nn.functional.scaled_dot_product_attention(x, x, x, mask)

    x, mask = torch.randn(2, 3, 4), torch.tensor([[True, False, True], [False] * 3, [True] * 3])
    traced = sdy.torch.trace(Attention(), x, mask)
    (result,) = run_unpartitioned(traced.module, traced.inputs(x, mask), "xla")
    np.testing.assert_allclose(result, Attention()(x, mask), rtol=1e-5, atol=1e-6)


def test_ranges_as_indices_are_batch_dimensions():
    x = torch.randn(8, 4, 3, 3)
    batch = {"*": ("data", None, None, None)}
    traced = sdy.torch.trace(nn.Upsample(scale_factor=2), x, mesh=MESH, shardings=batch)
    sdy.propagate(traced.module)
    program = sdy.partition(traced.module)
    assert not program.collectives
    arrays = program.run(traced.inputs(x), "jit")
    torch.testing.assert_close(traced.outputs(arrays), nn.functional.interpolate(x, scale_factor=2))
