# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training steps of PyTorch compute what eager PyTorch computes."""

import copy
import inspect

import numpy as np
import pytest
import torch
from torch import nn
from torch._subclasses.functional_tensor import FunctionalTensor

import pyshardy as sdy
from mlir_sdy.diagnostics import UsageError, collect
from mlir_sdy.values import argument_shardings, result_shardings
from pyshardy.irtools.locations import scopes_of
from pyshardy.program import run_unpartitioned

MESH = sdy.Mesh.of({"data": 2, "model": 2})
X, Y = torch.randn(6, 4), torch.randn(6, 2)
mse = nn.functional.mse_loss


def linear():
    torch.manual_seed(0)
    return nn.Linear(4, 2)


def entry_of(traced):
    operations = traced.module.body.operations
    return next(view for view in operations if view.operation.name == "func.func")


def trained_eagerly(model, optimizer, steps, loss=mse, inputs=X, targets=Y, before=None):
    """The losses; the model and its optimizer change."""
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        value = loss(model(inputs), targets)
        value.backward()
        if before is not None:
            before([*model.parameters()])
        optimizer.step()
        losses.append(value.item())
    return losses


def check_state(model, eager, tolerance=1e-5):
    for name, tensor in eager.state_dict().items():
        torch.testing.assert_close(
            model.state_dict()[name], tensor, rtol=tolerance, atol=tolerance, msg=name
        )


GROUPS = "two groups"
OPTIMIZERS = {
    "Adadelta": {"weight_decay": 0.1},
    "Adagrad": {"lr_decay": 0.1, "initial_accumulator_value": 0.1},
    "Adam": {"amsgrad": True, "weight_decay": 0.1, "maximize": True},
    "AdamW": {"weight_decay": 0.1, "betas": (0.8, 0.9)},
    "Adamax": {"weight_decay": 0.1},
    "ASGD": {"t0": 1, "lr": 0.1},
    "NAdam": {"decoupled_weight_decay": True, "weight_decay": 0.1},
    "RAdam": {"weight_decay": 0.1},
    "RMSprop": {"centered": True, "momentum": 0.9},
    "Rprop": {"lr": 0.05},
    "SGD": {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1},
    GROUPS: {},
}


def optimizer_of(name, model):
    if name == GROUPS:
        groups = [{"params": [model.weight], "weight_decay": 0.2}, {"params": [model.bias]}]
        groups[1]["lr"] = 0.5
        return torch.optim.SGD(groups, lr=0.1)
    return getattr(torch.optim, name)(model.parameters(), **OPTIMIZERS[name])


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers(name):
    """Of the second step, so that the state counts and is loaded."""
    model, eager = linear(), linear()
    optimizer, eager_optimizer = optimizer_of(name, model), optimizer_of(name, eager)
    expected = trained_eagerly(eager, eager_optimizer, 3)
    traced = sdy.torch.trace_training(model, mse, X, Y, optimizer=optimizer)
    for loss in expected:
        results = run_unpartitioned(traced.module, traced.inputs(X, Y))
        assert traced.loss(results) == pytest.approx(loss, rel=1e-5)
        traced.load(results)
    check_state(model, eager)
    states = (optimizer.state_dict()["state"], eager_optimizer.state_dict()["state"])
    for ours, theirs in zip(*(each.values() for each in states), strict=True):
        assert ours.keys() == theirs.keys()
        for key, value in theirs.items():
            np.testing.assert_allclose(ours[key], value, rtol=1e-4, atol=1e-5, err_msg=key)


class Momentum(torch.optim.Optimizer):
    """It replaces its momentum, and counts in a number of its state and maybe elsewhere."""

    def __init__(self, parameters):
        super().__init__(parameters, {"lr": 0.1})
        self.counts, self.updates, self.largest = None, 0, {}

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            self.updates += self.counts == "updates"
            if self.counts == "calls":
                group["calls"] = group.get("calls", 0) + 1
            for parameter in group["params"]:
                state = self.state[parameter]
                state["count"] = state.get("count", 0) + 1
                state["mean"] = 0.5 * state.get("mean", 0) + parameter.grad
                if self.counts == "largest":
                    state["largest"] = state["mean"].abs().max()
                if self.counts == "entries":
                    self.largest[id(parameter)] = state["mean"].abs().max()
                parameter.sub_(group["lr"] * state["mean"] / (1 - 0.5 ** state["count"]))


def test_optimizers_of_users():
    model, eager = linear(), linear()
    optimizers = [Momentum(one.parameters()) for one in (model, eager)]
    for one, optimizer in zip((model, eager), optimizers, strict=True):
        trained_eagerly(one, optimizer, 1)
    traced = sdy.torch.trace_training(model, mse, X, Y, optimizer=optimizers[0])
    for _ in range(2):
        traced.load(run_unpartitioned(traced.module, traced.inputs(X, Y)))
    trained_eagerly(eager, optimizers[1], 2)
    check_state(model, eager)
    assert optimizers[0].state[model.bias]["count"] == 3
    assert isinstance(optimizers[0].state[model.bias]["count"], int)


class Signs(torch.optim.Optimizer):
    """It has no state."""

    def __init__(self, parameters):
        super().__init__(parameters, {"lr": 0.1})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for parameter in group["params"]:
                parameter.sub_(parameter.grad.sign(), alpha=group["lr"])


def test_optimizers_without_state():
    model, eager = linear(), linear()
    traced = sdy.torch.trace_training(model, mse, X, Y, optimizer=Signs(model.parameters()))
    traced.load(run_unpartitioned(traced.module, traced.inputs(X, Y)))
    trained_eagerly(eager, Signs(eager.parameters()), 1)
    check_state(model, eager)


COUNTED = {
    "updates": "changes 'updates'",
    "calls": "changes 'calls'",
    "entries": "changes 'largest'",
    "largest": "adds 'largest' to its state",
}


@pytest.mark.parametrize("counts", COUNTED)
def test_steps_that_change_more_than_their_state(counts):
    model = linear()
    optimizer = Momentum(model.parameters())
    trained_eagerly(model, optimizer, 1)
    optimizer.counts = counts
    message = f"the step of the optimizer 'Momentum' {COUNTED[counts]}, which"
    with pytest.raises(UsageError, match=message):
        sdy.torch.trace_training(model, mse, X, Y, optimizer=optimizer)


def test_changed_hyperparameters():
    """Schedulers change more than the rate: numbers that the program has as constants."""
    model = linear()
    optimizer = torch.optim.AdamW(model.parameters(), 0.1)
    traced = sdy.torch.trace_training(model, mse, X, Y, optimizer=optimizer)
    schedulers = torch.optim.lr_scheduler
    schedulers.OneCycleLR(optimizer, 0.1, total_steps=4, cycle_momentum=False)
    before = dict(zip(traced.arguments, traced.inputs(X, Y), strict=True))
    assert before["optimizer.lr"] == pytest.approx(0.004)
    schedulers.OneCycleLR(optimizer, 0.1, total_steps=4)
    message = r"'betas' of the parameter group 0 was \(0.9, 0.999\) .* and is \(0.95, 0.999\) now"
    with pytest.raises(UsageError, match=message):
        traced.inputs(X, Y)
    optimizer.add_param_group({"params": [nn.Parameter(torch.zeros(2))]})
    with pytest.raises(UsageError, match="got parameter groups after the step was traced"):
        traced.inputs(X, Y)


def test_parameters_without_gradient_get_no_state():
    """Also not the shared number of steps, although the first parameter has none."""

    class Partial(nn.Module):
        def __init__(self):
            super().__init__()
            self.unused, self.used = nn.Parameter(torch.ones(2)), linear()

        def forward(self, x):
            return self.used(x)

    torch.manual_seed(0)
    model, eager = Partial(), Partial()
    optimizers = [torch.optim.Adam(one.parameters(), 0.1) for one in (model, eager)]
    with collect() as diagnostics:
        traced = sdy.torch.trace_training(model, mse, X, Y, optimizer=optimizers[0])
    assert "'unused'" in str(diagnostics[0])
    for _ in range(2):
        traced.load(run_unpartitioned(traced.module, traced.inputs(X, Y)))
    trained_eagerly(eager, optimizers[1], 2)
    check_state(model, eager)
    assert model.unused not in optimizers[0].state


def test_gradients_that_are_removed_before_the_step():
    """The others have their number of steps nevertheless."""

    def drop(parameters):
        parameters[0].grad = None

    model, eager = linear(), linear()
    optimizers = [torch.optim.Adam(one.parameters(), 0.1) for one in (model, eager)]
    with collect() as diagnostics:
        traced = sdy.torch.trace_training(
            model, mse, X, Y, optimizer=optimizers[0], before_step=drop
        )
    assert "these parameters have no gradient" in str(diagnostics[0])
    for _ in range(3):
        traced.load(run_unpartitioned(traced.module, traced.inputs(X, Y)))
    trained_eagerly(eager, optimizers[1], 3, before=drop)
    check_state(model, eager)
    assert optimizers[0].state[model.bias]["step"] == 3
    assert model.weight not in optimizers[0].state


def test_functions_of_users_reach_the_model_by_themselves():
    """Not by their arguments; and they use constants, and operations on lists of tensors."""
    results = []
    for is_traced in (True, False):
        torch.manual_seed(0)
        model, factor = nn.ModuleList([nn.Linear(4, 2), nn.Linear(4, 2)]), torch.tensor(0.5)
        model.forward = model[0].forward
        average = model[1].requires_grad_(False)
        optimizer = torch.optim.SGD(model[0].parameters(), 0.1)

        def clip(_, model=model, factor=factor):
            nn.utils.clip_grad_norm_(model[0].parameters(), 0.1, foreach=True)
            scale = torch.tensor(0.5)
            torch._foreach_mul_([each.grad for each in model[0].parameters()], factor)
            model[0].weight.grad.mul_(scale).add_(scale)

        def follow(*_, model=model, average=average):
            for mean, value in zip(average.parameters(), model[0].parameters(), strict=True):
                mean.data.lerp_(value.data, 0.1)

        optimizer.register_step_post_hook(follow)
        if is_traced:
            traced = sdy.torch.trace_training(
                model, mse, X, Y, optimizer=optimizer, before_step=clip
            )
            traced.load(run_unpartitioned(traced.module, traced.inputs(X, Y)))
        else:
            trained_eagerly(model, optimizer, 1, before=clip)
        results.append(model)
    check_state(*results)


def test_repeated_inputs():
    """Also as the target; the step tells them apart."""

    class Difference(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(4, 4)

        def forward(self, x, y):
            return self.linear(x) - 2 * self.linear(y)

    x, y, target = torch.randn(3, 6, 4)
    model = Difference()
    eager = copy.deepcopy(model)
    optimizer, eager_optimizer = (torch.optim.SGD(one.parameters(), 0.1) for one in (model, eager))
    traced = sdy.torch.trace_training(model, mse, (X, X), X, optimizer=optimizer)
    results = run_unpartitioned(traced.module, traced.inputs((x, y), target))
    traced.load(results)
    loss = mse(eager(x, y), target)
    loss.backward()
    eager_optimizer.step()
    assert traced.loss(results) == pytest.approx(loss.item(), rel=1e-5)
    check_state(model, eager)


def test_muon(monkeypatch):
    """In 32 bits: it orthogonalizes in bf16, and amplifies the order of roundings."""
    for kind in (torch.Tensor, FunctionalTensor):
        monkeypatch.setattr(kind, "bfloat16", kind.float)
    monkeypatch.setattr(torch, "bfloat16", torch.float32)  # since 2.15
    torch.manual_seed(0)
    model = nn.Linear(4, 2, bias=False)
    eager = copy.deepcopy(model)
    optimizer, eager_optimizer = (torch.optim.Muon([one.weight]) for one in (model, eager))
    losses = trained_eagerly(eager, eager_optimizer, 2)
    traced = sdy.torch.trace_training(model, mse, X, Y, optimizer=optimizer)
    for loss in losses:
        results = run_unpartitioned(traced.module, traced.inputs(X, Y))
        assert traced.loss(results) == pytest.approx(loss, rel=1e-5)
        traced.load(results)
    check_state(model, eager)


def test_connectionist_temporal_classification():
    """Also with a sequence that is shorter than its targets."""

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.randn(7, 3, 6))

        def forward(self, *given):
            scores = self.weight.log_softmax(2)
            return nn.functional.ctc_loss(scores, *given, zero_infinity=True)

    torch.manual_seed(0)
    model = Model()
    targets = torch.tensor([[1, 2, 2, 4], [3, 3, 5, 1], [1, 1, 1, 1]])
    batch = targets, torch.tensor([7, 6, 4]), torch.tensor([4, 2, 4])
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    traced = sdy.torch.trace_training(model, None, batch, optimizer=optimizer)
    results = run_unpartitioned(traced.module, traced.inputs(batch), "xla")
    loss = model(*batch)
    loss.backward()
    optimizer.step()
    assert traced.loss(results) == pytest.approx(loss.item(), rel=1e-5)
    np.testing.assert_allclose(results[1], model.weight.detach(), rtol=1e-5, atol=1e-6)


class GPT(nn.Module):
    """With biases of queries, keys and values; the gradients of those of keys are zero."""

    def __init__(self):
        super().__init__()
        self.embedding, self.positions = nn.Embedding(8, 8), nn.Parameter(torch.randn(4, 8))
        self.block = nn.TransformerEncoderLayer(8, 2, 16, 0.0, "gelu", batch_first=True)
        self.norm, self.head = nn.LayerNorm(8), nn.Linear(8, 8, bias=False)

    def forward(self, tokens):
        mask = torch.full((4, 4), -torch.inf).triu(1)
        x = self.block(self.embedding(tokens) + self.positions, mask, is_causal=True)
        return self.head(self.norm(x)).flatten(0, 1)


def test_steps_of_a_gpt_in_lockstep():
    """In 64 bits: Adam divides gradients by their size, also those that are zero but rounded."""
    torch.manual_seed(0)
    model, tokens = GPT().double(), torch.randint(8, (4, 4))
    eager = copy.deepcopy(model)
    optimizer, eager_optimizer = (
        torch.optim.AdamW(one.parameters(), lr=0.01) for one in (model, eager)
    )
    losses = trained_eagerly(eager, eager_optimizer, 3, cross_entropy, tokens, tokens)
    shardings = {
        "tokens": ("data", None),
        "*.in_proj_weight": ("model", None),
        "*.out_proj.weight": (None, "model"),
        "*.linear1.weight": ("model", None),
        "*.linear2.weight": (None, "model"),
    }
    traced = sdy.torch.trace_training(
        model, cross_entropy, tokens, tokens, optimizer=optimizer, mesh=MESH, shardings=shardings
    )
    sdy.propagate(traced.module)
    program = sdy.partition(traced.module)
    for loss in losses:
        results = program.run(traced.inputs(tokens, tokens), "interpreter")
        assert traced.loss(results) == pytest.approx(loss, rel=1e-10)
        traced.load(results)
    check_state(model, eager, 1e-10)


class Net(nn.Module):
    """With all that is special: tied, frozen and unused weights, and statistics."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(8, 4)
        self.norm = nn.BatchNorm1d(4)
        self.frozen = nn.Parameter(torch.randn(4), requires_grad=False)
        self.unused = nn.Parameter(torch.ones(3))
        self.head = nn.Linear(4, 8, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, tokens):
        x = self.norm(self.embedding(tokens).transpose(1, 2)).transpose(1, 2)
        with torch.no_grad():
            scale = x.abs().max() + 1
        return self.head(torch.tanh(x * self.frozen / scale)).flatten(0, 1)


def cross_entropy(scores, labels):
    return nn.functional.cross_entropy(scores, labels.flatten())


def clipped(parameters):
    nn.utils.clip_grad_norm_(parameters, 0.1)


@pytest.fixture(scope="module")
def net():
    """A model, its traced step, the warnings, and the partitioned step."""
    torch.manual_seed(0)
    model, tokens = Net(), torch.randint(8, (4, 6))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    with collect() as warnings:
        traced = sdy.torch.trace_training(
            model,
            cross_entropy,
            tokens,
            tokens,
            optimizer=optimizer,
            before_step=clipped,
            mesh=MESH,
            shardings={
                "embedding.weight": ("model", None),
                "tokens": ("data", None),
                "norm.*s": (None,),
                "optimizer.norm.weight.*": ("data",),
            },
        )
    shardings = argument_shardings(entry_of(traced)), result_shardings(entry_of(traced))
    sdy.propagate(traced.module)
    return model, tokens, traced, [each.message for each in warnings], shardings


def test_arguments_and_results(net):
    _, _, traced, warnings, _ = net
    assert traced.arguments == (
        "frozen",
        "unused",
        "embedding.weight",
        "norm.weight",
        "norm.bias",
        "norm.running_mean",
        "norm.running_var",
        "norm.num_batches_tracked",
        "optimizer.embedding.weight.momentum_buffer",
        "optimizer.norm.weight.momentum_buffer",
        "optimizer.norm.bias.momentum_buffer",
        "optimizer.lr",
        "tokens",
        "labels",
    )
    kept = {"frozen", "unused", "optimizer.lr", "tokens", "labels"}
    assert traced.results[0] == "loss"
    assert {*traced.results[1:]} == {*traced.arguments} - kept
    (warning,) = warnings
    assert warning.endswith("leaves them as is: 'unused'")


def test_state_is_sharded_like_its_parameter(net):
    _, _, traced, _, (of_arguments, of_results) = net
    arguments = dict(zip(traced.arguments, of_arguments, strict=True))
    results = dict(zip(traced.results, of_results, strict=True))
    rows = sdy.sharding('<@mesh, [{"model"}, {}]>')
    for found in (arguments, results):
        assert found["embedding.weight"] == rows
        assert found["optimizer.embedding.weight.momentum_buffer"] == rows
        overridden = found["optimizer.norm.weight.momentum_buffer"]
        assert overridden == sdy.sharding('<@mesh, [{"data"}]>')
    assert arguments["labels"] is None


@pytest.mark.parametrize("backend", ["xla", "jit"])
def test_steps_of_partitioned_programs(net, backend):
    original, tokens, traced, *_ = net
    eager = copy.deepcopy(original)
    optimizer = torch.optim.SGD(eager.parameters(), lr=0.1, momentum=0.9)
    losses = trained_eagerly(eager, optimizer, 2, cross_entropy, tokens, tokens, clipped)
    program = sdy.partition(traced.module)
    donated = {port.name: port.donated_to for port in program.inputs}
    assert donated["embedding.weight"] == traced.results.index("embedding.weight")
    results = program.run_sharded(traced.inputs(tokens, tokens), backend)
    found = [traced.loss(results)]
    again = traced.new_state(results) | traced.batch(tokens, tokens)
    results = program.run_sharded(again, backend)
    found.append(traced.loss(results))
    np.testing.assert_allclose(found, losses, rtol=1e-5)
    expected = eager.state_dict()
    for name, array in traced.new_state(results).items():
        if name in expected:
            np.testing.assert_allclose(array, expected[name], rtol=1e-5, atol=1e-6, err_msg=name)


def test_locations_and_scopes(net):
    _, _, traced, *_ = net
    body = entry_of(traced).regions[0].blocks[0].operations
    scopes = {scopes_of(op.location)[:2] for op in body}
    assert {("forward", "norm"), ("backward", "norm"), ("backward",), ("optimizer",)} <= scopes
    text = sdy.asm(traced.module)
    assert "training/step.py" not in text
    line = inspect.getsourcelines(Net.forward)[1] + 4
    assert f'{__file__}":{line}' in text


def test_dropout_takes_its_mask_from_the_seed():
    model = nn.Sequential(nn.Linear(4, 64), nn.Dropout(0.25), nn.Linear(64, 2))
    for parameter in model.parameters():
        nn.init.ones_(parameter)
    x = torch.ones(6, 4)  # sums of random numbers may be too small for the ratio below
    traced = sdy.torch.trace_training(
        model, lambda y: y.sum(), x, optimizer="sgd", mesh=MESH, shardings={"input": ("data", None)}
    )
    sdy.propagate(traced.module)
    program = sdy.partition(traced.module)
    once, twice, other = (
        program.run(traced.inputs(x, seed=seed), "interpreter") for seed in (1, 1, 2)
    )
    unpartitioned = run_unpartitioned(traced.module, traced.inputs(x, seed=1), "jit")
    for ours, same, whole in zip(once, twice, unpartitioned, strict=True):
        np.testing.assert_array_equal(ours, same)
        np.testing.assert_allclose(ours, whole, rtol=1e-5)
    assert traced.loss(once) != traced.loss(other)
    # The gradient of a weight of the last layer is the sum of what dropout lets through.
    with torch.no_grad():
        hidden = model[0](x)
    changed = 1 - once[traced.results.index("2.weight")][0]
    kept = changed / (1e-3 / 0.75)
    assert 0.6 < kept.mean() / hidden[:, 0].sum() < 0.9


def test_losses_of_models_and_modules():
    class WithLoss(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = linear()

        def forward(self, x, labels=None):
            y = self.layer(x)
            return {"loss": mse(y, labels), "output": y}

    traced = sdy.torch.trace_training(
        WithLoss(), None, {"x": X, "labels": Y}, optimizer=torch.optim.SGD
    )
    results = run_unpartitioned(traced.module, traced.inputs({"x": X, "labels": Y}))
    expected = mse(linear()(X), Y).item()
    assert traced.loss(results) == pytest.approx(expected, rel=1e-5)
    weighted = nn.BCEWithLogitsLoss(pos_weight=torch.tensor([1.0, 2.0]))
    traced = sdy.torch.trace_training(linear(), weighted, X, Y, optimizer="SGD")
    assert "loss.pos_weight" in traced.arguments
    results = run_unpartitioned(traced.module, traced.inputs(X, Y))
    assert traced.loss(results) == pytest.approx(weighted(linear()(X), Y).item(), rel=1e-5)


class Losses(nn.Module):
    """Forms of cross-entropy, and operations that take parts of tensors."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4, 6))
        self.register_buffer("of_classes", torch.rand(6) + 0.5)

    def forward(self, labels):
        entropy = nn.functional.cross_entropy
        scores, weights = self.weight + 0, self.of_classes
        images, of_images = scores.view(2, 6, 2), labels.view(2, 2)
        parts = (
            scores[1:, 1::2].square().sum() + scores[-1].exp().sum() + scores[:, :9:3].sin().sum()
        )
        return (
            entropy(scores, labels, weights, label_smoothing=0.1)
            + entropy(scores, labels, weights, ignore_index=2, reduction="none").square().sum()
            + entropy(images, of_images, weights, reduction="sum", ignore_index=2)
            + entropy(scores[0], labels[0])
            + parts
        )


def test_gradients_of_losses_and_slices():
    torch.manual_seed(0)
    model, labels = Losses(), torch.tensor([1, 2, 5, 2])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    traced = sdy.torch.trace_training(model, None, labels, optimizer=optimizer)
    results = run_unpartitioned(traced.module, traced.inputs(labels))
    loss = model(labels)
    loss.backward()
    optimizer.step()
    assert traced.loss(results) == pytest.approx(loss.item(), rel=1e-5)
    np.testing.assert_allclose(results[1], model.weight.detach(), rtol=1e-5, atol=1e-6)


def test_cross_entropy_keeps_the_batch_sharded():
    x, labels = torch.randn(256, 8), torch.randint(6, (256,))
    traced = sdy.torch.trace_training(
        nn.Linear(8, 6),
        nn.functional.cross_entropy,
        x,
        labels,
        optimizer="sgd",
        mesh=MESH,
        shardings={"input": ("data", None), "target": ("data",)},
    )
    sdy.propagate(traced.module)
    assert {one.kind for one in sdy.partition(traced.module).collectives} == {"all_reduce"}


def test_weights_without_values():
    with torch.device("meta"):
        model = nn.Linear(4096, 16384)
    x = torch.empty(8, 4096, device="meta")
    traced = sdy.torch.trace_training(model, lambda y: y.mean(), x, optimizer="adam")
    assert "optimizer.weight.exp_avg" in traced.arguments


def test_joint_graphs_of_torch_export():
    experimental = pytest.importorskip("torch.export.experimental")

    class Joint(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = linear()

        def forward(self, x):
            return (self.layer(x).square().mean(),)

    model = Joint()
    exported = torch.export.export(model, (X,), strict=False)
    traced = sdy.torch.trace(experimental._export_forward_backward(exported))
    assert traced.results == ("loss", "gradient.layer.weight", "gradient.layer.bias")
    arrays = run_unpartitioned(traced.module, traced.inputs(X))
    (loss,) = model(X)
    loss.backward()
    torch.testing.assert_close(traced.outputs(arrays)[0], loss.detach())
    np.testing.assert_allclose(arrays[1], model.layer.weight.grad, rtol=1e-5)


# --- Errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"loss": None}, r"the loss must be .* got: float32 of shape \(6, 2\); return its mean"),
        ({"loss": lambda y, _: y.argmax()}, r"the loss must be .* got: int64 of shape \(\)"),
        ({"loss": lambda y, _: (y, y)}, r"the loss must be .* got: 2 values; pass 'loss'"),
        ({"loss": lambda y, _: y.detach().sum()}, "the loss depends on no parameter"),
        ({"loss": 3}, "expected a loss function, got: int"),
        ({"loss": None, "targets": Y}, "targets need a loss"),
        ({"model": mse}, "expected a torch.nn.Module, got: function"),
        ({"optimizer": "adamv"}, "no optimizer 'adamv'; did you mean 'adam.*'SGD'"),
        ({"optimizer": 3}, "expected an optimizer of PyTorch or its name, got: int"),
        ({"optimizer": Momentum}, "optimizer 'Momentum' adds '.*' to its state, .* the first step"),
        ({"optimizer": torch.optim.LBFGS}, "a step of 'LBFGS' computes the loss several times"),
        ({"loss": lambda y, t: torch.amp.GradScaler("cpu").scale(mse(y, t))}, "'GradScaler' chan"),
        ({"before_step": lambda _: X.add_(linear().weight.sum())}, "doesn't have as an argument"),
        ({"model": torch.jit.script(linear())}, "of TorchScript has no code to trace"),
        ({"optimizer": torch.optim.SGD(linear().parameters())}, "trains none of the model's"),
        ({"shardings": {"optimizer.wieght.*": ()}}, "did you mean"),
    ],
)
def test_wrong_requests(changed, message):
    given = {"model": linear(), "loss": mse, "inputs": X, "targets": Y, "optimizer": "adam"}
    if changed.get("loss", ...) is None:
        given["targets"] = ()
    with pytest.raises(UsageError, match=message):
        sdy.torch.trace_training(**given | changed)


def test_wrong_optimizers_and_batches():
    model = linear()
    dampened = torch.optim.SGD(model.parameters(), momentum=0.9, dampening=0.1)
    with pytest.raises(UsageError, match="'SGD' with dampening begins with the first gradient"):
        sdy.torch.trace_training(model, mse, X, Y, optimizer=dampened)
    trained_eagerly(model, dampened, 1)
    eager = copy.deepcopy(model)
    eager_optimizer = torch.optim.SGD(eager.parameters(), momentum=0.9, dampening=0.1)
    eager_optimizer.load_state_dict(copy.deepcopy(dampened.state_dict()))
    traced = sdy.torch.trace_training(model, mse, X, Y, optimizer=dampened)
    traced.load(run_unpartitioned(traced.module, traced.inputs(X, Y)))
    trained_eagerly(eager, eager_optimizer, 1)
    check_state(model, eager)
    with pytest.raises(UsageError, match="expected 1 targets, got 0"):
        traced.inputs(X)
    with pytest.raises(UsageError, match=r"traced for inputs like .*, got: \(\*, \*,"):
        traced.inputs((X, X), Y)
    both = torch.optim.SGD([*model.parameters(), *linear().parameters()])
    with pytest.raises(UsageError, match="2 parameters of the optimizer aren't"):
        sdy.torch.trace_training(model, mse, X, Y, optimizer=both)
    model.requires_grad_(False)
    with pytest.raises(UsageError, match="no parameters with requires_grad"):
        sdy.torch.trace_training(model, mse, X, Y)
