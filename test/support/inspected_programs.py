# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random functions of JAX that ask for shardings, call Python and close over arrays."""

from __future__ import annotations

import random
from collections.abc import Callable

import jax
import jax_devices  # noqa: F401 (before JAX looks for devices)
import numpy as np
from jax import lax
from jax import numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec

P = PartitionSpec
SHAPE = 16, 8
SPECS = P("x"), P("y", "x"), P(("x", "y")), P(None, "y"), P("x", "y")

CONSTANTS = [
    np.random.default_rng(0).standard_normal((*SHAPE, 32)).astype(dtype)
    for dtype in ("float32", "float16", jnp.bfloat16, "int8", "complex64", "bool")
]
"""Arrays that the functions close over, some more than once."""
MOST_IN_TEXT = 1024
"""A number of elements that only these constants exceed."""


def _closed_over(x: jax.Array, number: int) -> jax.Array:
    """Add to a value what depends on all elements of an array that the caller closes over."""
    array = jnp.real(CONSTANTS[number]).astype(x.dtype).sum(axis=-1) / 32
    return x + (array if x.shape == SHAPE else array.sum(axis=0)[: x.shape[-1]])


STEPS: dict[str, Callable[[jax.Array], jax.Array]] = {
    "tanh": jnp.tanh,
    "half": lambda x: x * 0.5,
    "counted": lambda x: x + jnp.arange(x.shape[-1], dtype=x.dtype),
    "centered": lambda x: x - x.mean(axis=-1, keepdims=True),
    "reversed": lambda x: x[..., ::-1],
    "rolled": lambda x: jnp.roll(x, 1, axis=-1),
    "summed": lambda x: jnp.cumsum(x, axis=-1) / x.shape[-1],
    **{
        f"closed over {array.dtype}": lambda x, number=number: _closed_over(x, number)
        for number, array in enumerate(CONSTANTS)
    },
}
VIEWS: dict[str, Callable[[jax.Array], jax.Array]] = {
    "itself": lambda x: x,
    "scaled": lambda x: x * 2,
    "transposed": lambda x: x.T,
    "reduced": lambda x: x.sum(axis=-1),
    "sliced": lambda x: x[:2],
    "flat": lambda x: x.reshape(-1),
    "outer product": lambda x: x[..., None] * x[..., None, :],
}
NESTED = ("jit", "twice", "scan", "branch", "checkpoint", "scope")


class InspectedProgram:
    """A random function that asks for shardings in loops, branches, gradients and shards.

    `spec` is the sharding of its argument. `function(mesh, ask)` makes the function, which calls
    `ask(value, label)` for each question.
    """

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.labels = 0
        self.spec = self.random.choice(SPECS)
        self.steps = self._body(2, frozenset())

    def _label(self) -> int:
        self.labels += 1
        return self.labels

    def _body(self, depth: int, inside: frozenset[str]) -> list[tuple]:
        steps = []
        for _ in range(self.random.randint(1, 3)):
            match self.random.choice(["step", "ask", "call", *["nested"] * 2 * (depth > 0)]):
                case "step":
                    steps.append(("step", self.random.choice([*STEPS])))
                case "ask":
                    steps.append(("ask", self._label(), self.random.choice([*VIEWS])))
                case "call" if not inside & {"gradient", "checkpoint", "vmap", "shard_map"}:
                    steps.append(("call",))
                case "nested":
                    name = self.random.choice(self._nested(inside))
                    steps.append((name, self._body(depth - 1, inside | {name})))
        return [*steps, ("ask", self._label(), "itself")]

    def _nested(self, inside: frozenset[str]) -> list[str]:
        names = [*NESTED]
        if not inside & {"gradient", "shard_map"}:
            names.append("gradient")
        if not inside & {"gradient", "checkpoint"}:
            names.append("while")
        if not inside & {"vmap", "shard_map"}:
            names += ["vmap", "shard_map", "constraint"]
        return names

    def function(
        self, mesh: jax.sharding.Mesh, ask: Callable[[jax.Array, int], None]
    ) -> Callable[[jax.Array], jax.Array]:
        return lambda x: self._run(self.steps, x, mesh, ask)

    def _run(self, steps, x, mesh, ask):
        for kind, *rest in steps:
            inner = lambda value, rest=rest: self._run(rest[0], value, mesh, ask)  # noqa: E731
            match kind:
                case "step":
                    x = STEPS[rest[0]](x)
                case "ask":
                    ask(VIEWS[rest[1]](x), rest[0])
                case "call":
                    x = x + jax.pure_callback(np.tanh, jax.ShapeDtypeStruct((), x.dtype), x.max())
                case "jit":
                    x = jax.jit(inner)(x)
                case "scope":
                    with jax.named_scope("part"):
                        x = inner(x)
                case "twice":
                    shared = jax.jit(inner)
                    x = shared(shared(x))
                case "scan":
                    x, _ = lax.scan(lambda c, _: (inner(c), None), x, None, length=2)  # noqa: B023
                case "while":
                    x = lax.fori_loop(0, 2, lambda _, c: inner(c), x)  # noqa: B023
                case "branch":
                    x = lax.cond(x.sum() > 0, inner, lambda c: c * 2, x)
                case "checkpoint":
                    x = jax.checkpoint(inner)(x)
                case "gradient":
                    x = jax.grad(lambda a: inner(a).sum())(x)  # noqa: B023
                case "vmap":
                    x = jax.vmap(inner)(x)
                case "constraint":
                    # Not `x * 1`, which XLA simplifies before it propagates.
                    target = NamedSharding(mesh, P(None, "x"))
                    x = inner(lax.with_sharding_constraint(jnp.sin(x), target))
                case "shard_map":
                    axes = ("x", "y")[: 1 + len(rest[0]) % 2]
                    spec = P(axes)
                    x = jax.shard_map(
                        inner,
                        mesh=mesh,
                        in_specs=spec,
                        out_specs=spec,
                        axis_names={*axes},
                        check_vma=False,
                    )(x)
        return x
