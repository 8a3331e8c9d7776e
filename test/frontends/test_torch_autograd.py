# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions and hooks for autograd count in traced programs, or are refused with their line."""

import copy

import pytest
import torch
from torch import nn
from torch.func import functional_call, grad, jacfwd, jacrev, jvp, vjp
from torch.utils.checkpoint import checkpoint

import pyshardy as sdy
from mlir_sdy.diagnostics import UsageError
from pyshardy.program import run_unpartitioned

FAST = sdy.CompileOptions(optimization=0)
MESH = sdy.Mesh.of({"data": 2})
X, Y = torch.randn(8, 4, generator=torch.Generator().manual_seed(0)), torch.zeros(8, 4)
mse = nn.functional.mse_loss


class Reverse(torch.autograd.Function):
    """The identity, whose gradient is reversed."""

    @staticmethod
    def forward(ctx, x, factor=1.0):
        ctx.factor = factor
        return x.view_as(x)

    @staticmethod
    def backward(ctx, gradient):
        return -ctx.factor * gradient, None


class Quantize(torch.autograd.Function):
    """Rounded numbers, whose gradient passes straight through."""

    @staticmethod
    def forward(x, low, high):
        return torch.round(x).clamp(low, high)

    @staticmethod
    def setup_context(ctx, inputs, _):
        x, ctx.low, ctx.high = inputs
        ctx.save_for_backward(x)

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return gradient * ((x >= ctx.low) & (x <= ctx.high)), None, None


class Several(torch.autograd.Function):
    """Results of several kinds."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        place = x.argmax(-1)
        ctx.mark_non_differentiable(place)
        return x * y, x + y, place, "text"

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, of_product, of_sum, *_):
        x, y = ctx.saved_tensors
        return 2 * of_product * y + of_sum, 3 * of_product * x - of_sum


class Doubled(torch.autograd.Function):
    """A change in place."""

    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x.mul_(2))
        return x

    @staticmethod
    def backward(_, gradient):
        return 2 * gradient


reverse = Reverse.apply  # bound before any trace


class Model(nn.Module):
    """Two layers and a buffer; a function of the model and an input computes the output."""

    def __init__(self, function, prepare=None):
        super().__init__()
        torch.manual_seed(0)
        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 4)
        self.register_buffer("factor", torch.tensor(2.0))
        self.function = function
        if prepare is not None:
            prepare(self)

    def forward(self, x):
        return self.function(self, x)


def two_layers(model, x):
    return model.b(model.a(x))


def with_function_in_model(model, x):
    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, t):
            ctx.save_for_backward(t)
            return t * 2

        @staticmethod
        def backward(ctx, gradient):
            (t,) = ctx.saved_tensors
            return gradient * model.factor * t

    return model.b(Scaled.apply(model.a(x)))


def with_several_results(model, x):
    product, total, place, _ = Several.apply(model.a(x), model.b(x))
    return product + total + nn.functional.one_hot(place, 4)


def with_hook(model, x):
    hidden = model.a(x)
    hidden.register_hook(lambda g: g * model.factor + model.b.weight.sum())
    return model.b(hidden)


def unchanged(*_):
    """A hook that leaves the gradient as it is."""


def with_removed_hook(model, x):
    hidden = model.a(x)
    hidden.register_hook(lambda g: g * 5).remove()
    with hidden.register_hook(lambda g: g * 7):
        pass
    hidden.register_hook(unchanged)
    return model.b(hidden)


def with_constant_in_hook(model, x):
    scale = torch.linspace(0, 1, 4)
    hidden = model.a(x)
    hidden.register_hook(lambda g: g * scale * torch.tensor(3.0))
    return model.b(hidden)


def with_values_in_hooks(model, x):
    """Values of this and of other layers, in variables, attributes and lists."""
    hidden, model.mask = model.a(x), x > 0
    scales = [hidden.detach().abs()]
    hidden.register_hook(lambda g: g * model.mask * scales[0])
    return model.b(hidden)


def with_later_values_in_hooks(model, x):
    hidden, scales = model.a(x), []
    hidden.register_hook(lambda g: g * scales[0])
    scales.append(hidden.detach().abs())
    return model.b(hidden)


def with_rounded_saved_tensors(model, x):
    with torch.autograd.graph.saved_tensors_hooks(torch.round, lambda t: t):
        hidden = model.a(x).exp()
    return model.b(hidden)


def with_gradient_penalty(model, x):
    x = x.clone().requires_grad_()
    energy = model.b(torch.tanh(model.a(x)))
    (force,) = torch.autograd.grad(energy.sum(), x, create_graph=True)
    return energy + force.square().sum(1, keepdim=True)


def with_jacobian(model, x):
    def inner(t):
        return torch.tanh(model.a(t)).sum(0)

    return model.b(x) + torch.autograd.functional.jacobian(inner, x, create_graph=True).sum()


def with_gradients_of_samples(model, x):
    """Also of a hidden value, and of weights."""
    hidden = model.a(x)
    weights = dict(model.b.named_parameters())

    def loss(weights, sample, scale):
        return functional_call(model.b, weights, (sample * scale,)).square().sum()

    of_weights = torch.vmap(grad(loss), in_dims=(None, 0, 0))(weights, hidden, x)
    return of_weights["weight"].sum(2) + grad(lambda t: (model.b(t) * hidden).sin().sum())(hidden)


def with_transforms(model, x):
    value, pull = vjp(model.a, x)
    inner = lambda t: torch.tanh(model.a(t))  # noqa: E731
    derivatives = torch.vmap(jacrev(inner))(x).sum(2) + torch.vmap(jacfwd(inner))(x).sum(1)
    return model.b(pull(value)[0] + jvp(inner, (x,), (value,))[1]) + derivatives


def with_new_tensors_that_require_gradients(model, x):
    first, second = torch.zeros(8, 4, requires_grad=True), torch.tensor(2.0, requires_grad=True)
    output = model.a(x + first).sin() * second
    gradients = torch.autograd.grad(output.sum(), (first, second), create_graph=True)
    return model.b(output) + gradients[0] * gradients[1]


def without_gradient_in_part(model, x):
    with torch.no_grad():
        fixed = model.a(x)
    return model.b(x) * fixed + (model.a(x) if model.a.weight.requires_grad else 0)


def hooked_parameters(model):
    weight = model.a.weight
    weight.register_hook(lambda g: g + 0.1 * weight)
    model.a.bias.register_hook(lambda g: g.clamp(-0.01, 0.01))


def hooked_modules(model):
    model.a.register_full_backward_hook(
        lambda _, gradients, __: tuple(g if g is None else 2 * g for g in gradients)
    )
    model.b.register_full_backward_pre_hook(lambda _, gradients: (3 * gradients[0],))


TRAINED = {
    "reversed gradient": Model(lambda m, x: m.b(reverse(m.a(x), 3.0))),
    "reversed gradient of a weight": Model(lambda m, x: x @ Reverse.apply(m.a.weight) + m.b(x)),
    "straight-through estimator": Model(lambda m, x: m.b(Quantize.apply(m.a(x) * 3, -2.0, 2.0))),
    "several results": Model(with_several_results),
    "a function that refers to the model": Model(with_function_in_model),
    "hook": Model(with_hook),
    "removed hooks": Model(with_removed_hook),
    "constants in a hook": Model(with_constant_in_hook),
    "values in a hook": Model(with_values_in_hooks),
    "hooks of parameters": Model(two_layers, hooked_parameters),
    "hooks of modules": Model(lambda m, x: m.b(m.b(torch.relu(m.a(m.a(x))))), hooked_modules),
    "saved tensors": Model(with_rounded_saved_tensors),
    "gradient penalty": Model(with_gradient_penalty),
    "jacobian": Model(with_jacobian),
    "gradients of samples": Model(with_gradients_of_samples),
    "transforms": Model(with_transforms),
    "new tensors": Model(with_new_tensors_that_require_gradients),
    "partly without gradient": Model(without_gradient_in_part),
    "checkpoint": Model(lambda m, x: m.b(checkpoint(m.a, x, use_reentrant=False))),
    "nested checkpoints": Model(
        lambda m, x: checkpoint(
            lambda t: m.b(checkpoint(lambda u: reverse(m.a(u)), t, use_reentrant=False)),
            x,
            use_reentrant=False,
        )
    ),
    "reentrant checkpoint": Model(
        lambda m, x: m.b(
            checkpoint(lambda t: reverse(m.a(t)), x.requires_grad_(), use_reentrant=True)
        )
    ),
}


def step_of(model, x=X):
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    return sdy.torch.trace_training(
        model, mse, x, Y, optimizer=optimizer, mesh=MESH, shardings={"x": ("data", None)}
    )


@pytest.mark.parametrize("name", TRAINED)
def test_gradients(name):
    model = TRAINED[name]
    traced = step_of(model)
    mse(model(X.clone()), Y).backward()
    trained = [(path, each) for path, each in model.named_parameters() if each.grad is not None]
    expected = {path: (each - each.grad).detach() for path, each in trained}
    model.zero_grad(set_to_none=True)
    if name == "hook":  # also of partitioned programs
        sdy.propagate(traced.module)
        results = sdy.partition(traced.module).run(traced.inputs(X, Y), backend="xla")
    else:
        results = run_unpartitioned(traced.module, traced.inputs(X, Y), "xla", FAST)
    new = traced.new_state(results)
    assert expected
    for path, value in expected.items():
        torch.testing.assert_close(torch.as_tensor(new[path]), value, rtol=1e-4, atol=1e-5)


def with_backward(model, x):
    model.a(x).sum().backward()
    return model.b(x)


def with_hook_of_values(model, x):
    hidden = model.a(x)
    hidden.register_hook(lambda g: g * (2 if g.sum() > 0 else 3))
    return model.b(hidden)


def with_hook_of_function(model, x):
    hidden = model.a(x)
    hidden.grad_fn.register_hook(unchanged)
    return model.b(hidden)


def with_hook_of_several(model, x):
    hidden = model.a(x)
    torch.autograd.graph.register_multi_grad_hook([hidden], unchanged)
    return model.b(hidden)


def with_packing(model, x):
    nn.utils.rnn.pack_padded_sequence(x, [4] * 8, batch_first=True)
    return model.b(x)


def with_linearization(model, x):
    value, tangent = torch.func.linearize(torch.sin, model.a(x))
    return model.b(tangent(value))


REFUSED = {
    "a linearization": (with_linearization, None, "call torch.func.jvp"),
    "packed sequences": (with_packing, None, "give layers padded ones"),
    "a change in place": (lambda m, x: m.b(Doubled.apply(m.a(x))), None, "'Doubled' changes its"),
    "backward": (with_backward, None, "use torch.autograd.grad"),
    "a hook that needs values": (with_hook_of_values, None, r"'g.sum\(\) > 0' needs the values"),
    "later values in a hook": (with_later_values_in_hooks, None, "make the tensor before"),
    "a hook of a function": (with_hook_of_function, None, "use Tensor.register_hook"),
    "a hook of several tensors": (with_hook_of_several, None, "use Tensor.register_hook"),
    "an old hook of a module": (
        two_layers,
        lambda m: m.a.register_backward_hook(unchanged),
        "use Tensor.register_hook",
    ),
    "a hook of an accumulated gradient": (
        two_layers,
        lambda m: m.a.weight.register_post_accumulate_grad_hook(unchanged),
        "parameter 'a.weight'.*use 'before_step'",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    function, prepare, message = REFUSED[name]
    with pytest.raises(UsageError, match=message) as caught:
        step_of(Model(function, prepare))
    if name != "a hook of an accumulated gradient":  # which has no line
        assert caught.value.diagnostics[0].location.filename == __file__


class Sine(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x.sin()

    @staticmethod
    def setup_context(ctx, inputs, _):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, gradient):
        return gradient * ctx.saved_tensors[0].cos()


def test_functions_inside_of_vmap():
    model = Model(lambda m, x: torch.vmap(Sine.apply)(m.a(x)))
    traced = sdy.torch.trace(model, X)
    results = run_unpartitioned(traced.module, traced.inputs(X), "xla", FAST)
    torch.testing.assert_close(traced.outputs(results), model(X).detach())


def test_forces_of_a_potential():
    """Derivatives inside of `forward`, for inference."""

    class Forces(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Linear(8, 1))

        def forward(self, x):
            x = x.detach().requires_grad_()
            energy = self.net(x).sum()
            return energy, -torch.autograd.grad(energy, x)[0]

    model, x = Forces(), torch.randn(8, 3)
    eager = copy.deepcopy(model)
    traced = sdy.torch.trace(model, x, mesh=MESH, shardings={"x": ("data", None)})
    sdy.propagate(traced.module)
    arrays = sdy.partition(traced.module).run(traced.inputs(x), backend="xla")
    for found, expected in zip(traced.outputs(arrays), eager(x), strict=True):
        torch.testing.assert_close(found, expected.detach(), rtol=1e-4, atol=1e-5)
    changed = dict(zip(traced.results, arrays, strict=True))
    for name, buffer in eager.named_buffers():
        torch.testing.assert_close(torch.as_tensor(changed[name]), buffer)


def test_checkpoints_enter_their_contexts():
    def contexts():
        return [torch.autocast("cpu", torch.bfloat16) for _ in ("forward", "again")]

    def checkpointed(model, x):
        return model.b(checkpoint(model.a, x, use_reentrant=False, context_fn=contexts).float())

    def without_bias(model):  # which would be added before the product is rounded
        nn.init.zeros_(model.a.bias)

    rounded, plain = Model(checkpointed, without_bias), Model(two_layers, without_bias)
    traced = step_of(rounded)
    results = run_unpartitioned(traced.module, traced.inputs(X, Y), "xla", FAST)
    ours = torch.as_tensor(traced.new_state(results)["b.weight"])
    for model in (rounded, plain):
        mse(model(X), Y).backward()
    expected, other = ((m.b.weight - m.b.weight.grad).detach() for m in (rounded, plain))
    of_rounding = (other - expected).abs().max()
    assert (ours - expected).abs().max() < of_rounding / 10


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.LSTM(4, 3, bidirectional=True)

    def forward(self, x):
        return self.layer(x)[0].square().sum()


class Normalized(nn.Module):
    def __init__(self, dim):
        super().__init__()
        layer = nn.utils.parametrizations.weight_norm(nn.Linear(4, 8), dim=dim)
        self.layer = layer

    def forward(self, x):
        return self.layer(x).square().sum()


class Averaged(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8, momentum=None))

    def forward(self, x):
        return self.layers(x).cos().sum()


class Table(nn.Module):
    def __init__(self, **options):
        super().__init__()
        self.table = nn.Embedding(10, 8, **options)

    def forward(self, x):
        return self.table(x).square().sum()


@pytest.mark.parametrize(
    ("make", "x"),
    [
        (Recurrent, torch.ones(2, 2, 4)),
        (Averaged, torch.arange(8.0).reshape(2, 4)),
        (lambda: Normalized(0), torch.ones(5, 4)),
        (lambda: Normalized(1), torch.ones(5, 4)),
        (lambda: Normalized(None), torch.ones(5, 4)),
        (lambda: Table(scale_grad_by_freq=True), torch.tensor([1, 1, 3])),
        (lambda: Table(sparse=True), torch.tensor([1, 1, 3])),
    ],
)
def test_layers(make, x):
    _check_step(make, x)


def test_weights_of_16_bits_are_normalized():
    x = torch.ones(5, 4, dtype=torch.bfloat16)
    _check_step(lambda: Normalized(0).to(x.dtype), x, tolerance=5e-2)


def _check_step(make, x, tolerance=1e-4):
    torch.manual_seed(0)
    model = make()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    traced = sdy.torch.trace_training(model, None, x, optimizer=optimizer)
    results = run_unpartitioned(traced.module, traced.inputs(x), "xla", FAST)
    model(x).backward()
    optimizer.step()
    new = traced.new_state(results)
    for name, parameter in model.named_parameters():
        made = torch.from_numpy(new[name].astype("float32"))
        expected = parameter.detach().float()
        torch.testing.assert_close(made, expected, rtol=tolerance, atol=tolerance / 10)


class Masked(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mask", torch.full((4,), 2.0))

    def forward(self, x, mask):
        return x * mask + self.mask


def test_inputs_with_the_names_of_other_arguments():
    x, mask = torch.ones(4), torch.full((4,), 5.0)
    traced = sdy.torch.trace(Masked(), x, mask, mesh=MESH, shardings={"input.mask": ("data",)})
    assert traced.arguments == ("mask", "x", "input.mask")
    arrays = run_unpartitioned(traced.module, traced.inputs(x, mask))
    torch.testing.assert_close(traced.outputs(arrays), Masked()(x, mask))


class Confusing(nn.Module):
    """A model with the names that a training step has."""

    def __init__(self):
        super().__init__()
        self.optimizer = nn.Linear(4, 4)
        self.target = nn.Parameter(torch.ones(4))
        self.loss = nn.Parameter(torch.ones(4))

    def forward(self, seed):
        return nn.functional.dropout(self.optimizer(seed), 0.5) * self.target * self.loss


def test_models_with_the_names_of_a_training_step():
    torch.manual_seed(0)
    model = Confusing()
    shardings = {"optimizer.*": (None,), "seed": ("data", None)}
    with pytest.raises(UsageError, match=r"matches 'optimizer.weight', which has 2 dimensions"):
        sdy.torch.trace_training(model, mse, X, Y, mesh=MESH, shardings=shardings)
    shardings = {"training.optimizer.optimizer.weight.exp_avg": ("data", None)}
    traced = sdy.torch.trace_training(model, mse, X, Y, mesh=MESH, shardings=shardings)
    assert len({*traced.arguments}) == len(traced.arguments)
    assert {"seed", "target", "target.target", "loss", "training.seed"} <= {*traced.arguments}
    assert "training.optimizer.lr" in traced.arguments
    assert {"loss", "training.loss"} <= {*traced.results}
    results = run_unpartitioned(traced.module, traced.inputs(X, Y, seed=3), "xla", FAST)
    before = model.target.detach().clone()
    traced.load(results)
    assert traced.loss(results) > 0
    assert not torch.equal(model.target, before)
