# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs of the corpus with a symbolic dimension, traced by JAX."""

import importlib.util
import sys
from functools import cache
from pathlib import Path

import jax
import jax_devices  # noqa: F401 (before JAX looks for devices)
import numpy as np
from corpus_programs import OPTIONS, TAKES_ROOTS

import pyshardy as sdy
from mlir_sdy.diagnostics import PassError, collect
from pyshardy.program import run_unpartitioned

_FOLDER = Path(__file__).parents[1] / "corpus"


def _parsed(text):
    lines = (line.split() for line in text.splitlines() if line)
    return {name: (int(dim), [*map(int, leaves.split(","))]) for name, dim, leaves in lines}


SYMBOLIC = _parsed("""
sort_and_take 0 0
cumulative 0 0
fourier 0 0
dynamic_windows 0 0
padding_and_rolling 0 0
stencil 0 0
concatenations 0 0,1
gather_in_batches 0 0,1
scatter_of_all_kinds 0 0
top_k_and_argmax 0 0
random_numbers 0 1
flips_and_tiles 1 0
iota_masks 0 0
k_means 1 0,1
scan_recurrent_cell 0 2
scan_lstm_gradient 0 1
switch_of_branches 0 1
nested_loops 0 0
calls_of_one_function 0 0
nested_calls 0 0,1
custom_derivative 0 1
associative_scan 0 0
map_over_rows 0 0
convnet_batch 0 0,1
convnet_spatial 0 0,1
convnet_features 0 0,1
convnet_train 0 3
depthwise_convolution 0 0
batch_norm_by_hand 0 0
unet_step 0 0,1,2
transposed_convolution 0 0
cholesky_solve 0 0,1
orthogonalise 0 0
batched_einsums 0 0,1
shard_map_full 0 0
shard_map_partial 0 0
shard_map_partial_with_constraint 1 0
shard_map_ring_attention 0 0,1,2
shard_map_all_to_all 1 0
shard_map_gather_scatter 1 0
shard_map_nested 0 0
shard_map_in_scan 0 0
moe_top_k 1 1
moe_top_k_train 1 0
moe_sorted_dispatch 1 1
embedding_lookup 0 1
embedding_lookup_by_columns 0 0
embedding_gradient 0 1,2
embedding_bag 0 0
one_hot_classifier 0 1,2
two_towers 1 1,3
uneven_matmul 0 0
mesh_of_one_axis 0 2
mesh_with_axis_of_one 0 2
unconstrained_dimensions 0 0
conflicting_operands 0 0,1
conflicting_constraints 1 0
shard_alike_values 0 0,1
replicated_and_scalars 0 0
mixed_precision 0 2
quantised_matmul 0 0
op_slice_rows 0 0
op_slice_with_stride 0 0
op_slice_of_uneven 0 0
op_pad_both_ends 0 0
op_pad_interior 0 0
op_roll 0 0
op_reverse 0 0
op_reverse_of_uneven 0 0
op_concatenate_along_shards 0 0,1
op_transpose 0 0
op_sum_of_shards 0 0
op_sum_from_three 0 0
op_product_of_shards 0 0
op_largest_of_uneven 0 0
op_sum_of_uneven_exponentials 0 0
op_any_and_all 0 0
op_argmax 0 0
op_mean_and_variance 0 0
op_cumsum 0 0
op_cumulative_maximum_reversed 0 0
op_dot_of_contracted 0 0
op_dot_scattered 0 0
op_dot_of_uneven 0 0
op_dot_in_batches 0 0,1
op_convolution_rows 0 0
op_convolution_with_stride 0 0
op_convolution_dilated 0 0
op_convolution_of_uneven 0 0
op_max_pool 0 0
op_average_pool 1 0
op_max_pool_gradient 0 0
op_take_of_rows 0 0
op_take_by_sharded_indices 0 0
op_take_along_axis 0 0,1
op_scatter_add_to_rows 0 0
op_scatter_add_of_shards 0 0
op_scatter_max 0 0
op_dynamic_slice 0 0
op_dynamic_update_slice 0 0
op_sort_along_shards 0 0
op_sort_pairs 0 0
op_top_k 1 0
op_fft_along_shards 0 0
op_cholesky 0 0
op_select_and_clamp 0 0,1
op_convert_gathered 0 0
transformer_forward 0 20
transformer_train_sgd 0 20
transformer_train_adam_fsdp 0 60
transformer_scan 0 0,1,2,3,4,5,6,7,8
transformer_scan_train 0 0,1,2,3,4,5,6,7,8
transformer_scan_remat 0 0,1,2,3,4,5,6,7,8
transformer_constraints 0 9
transformer_sequence_parallel 0 9
transformer_decode_with_cache 0 4,5,6
transformer_generate_loop 0 10
grouped_query_attention 1 0,1,2
rotary_embedding 0 0,1
bert_layer_with_dropout 0 1
pipeline_of_stages 0 0,1
""")
"""The dimension that is symbolic, and the arguments whose dimension it is, by program."""

_SMALLER = {"DIM": 8, "HIDDEN": 16, "VOCABULARY": 32}
"""Static sizes of the transformers, an eighth of those of the corpus: the reference interpreter
takes a microsecond for each product, which are hours for all programs and sizes otherwise."""


@cache
def _registry():
    """Return the registry of the corpus, with the arguments of `lower` instead of programs."""
    sys.path.append(str(_FOLDER))
    try:
        registry = importlib.import_module("registry")
        registry.lower = lambda *args, **keywords: (args, keywords)
        for path in sorted((_FOLDER / "programs").glob("[a-z]*.py")):
            spec = importlib.util.spec_from_file_location(f"corpus_{path.stem}", path)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            vars(module).update({name: _SMALLER[name] for name in vars(module) & _SMALLER.keys()})
    finally:
        sys.path.remove(str(_FOLDER))
    return registry


def traced(name, size=None):
    """Return a program of the corpus for a size; by default a symbolic one, a multiple of 4."""
    if size is None:
        (size,) = jax.export.symbolic_shape("b", constraints=["b >= 4", "mod(b, 4) == 0"])
    dim, which = SYMBOLIC[name]
    (function, arguments, mesh, *specs), keywords = _registry().PROGRAMS[name]()
    specs = [*specs, keywords.get("in_specs"), keywords.get("out_specs")]
    leaves, tree = jax.tree.flatten(arguments)
    for at in which:
        shape = [*leaves[at].shape]
        shape[dim] = size
        leaves[at] = jax.ShapeDtypeStruct(tuple(shape), leaves[at].dtype)
    given = [each for each in specs if each is not None]
    shardings = dict(zip(("in_shardings", "out_shardings"), given, strict=False))
    with collect():
        return sdy.jax.trace(function, *tree.unflatten(leaves), mesh=mesh, **shardings)


def inputs_of(name, specs, seed):
    random = np.random.default_rng(seed)
    arrays = []
    for spec in specs:
        kind = np.dtype(spec.dtype).kind
        number = random.integers(0, 4, spec.shape)
        normal = random.standard_normal(spec.shape) / 4  # in loops, larger errors grow
        arrays.append((number if kind in "iub" else normal).astype(spec.dtype))
    return list(map(np.abs, arrays)) if name in TAKES_ROOTS else arrays


def expected(name, size, inputs):
    """Return what the program of a size computes, by XLA."""
    module = traced(name, size)
    try:
        found = run_unpartitioned(module, inputs, "xla", OPTIONS)
    except PassError:  # of manual computations: no unpartitioned form
        with collect():
            sdy.propagate(module)
            found = sdy.partition(module).run(inputs, "xla", OPTIONS)
    # Numbers that are taken from beyond the end are NaN.
    numbers = [each for each in found if each.size and each.dtype.kind in "fc"]
    assert all(np.isfinite(each).any() for each in numbers)
    return found


def assert_close(found, wanted, rounding=1e-4):
    """Assert that results are equal within the rounding of sums in another order."""
    for one, other in zip(found, wanted, strict=True):
        assert one.shape == other.shape
        kind = np.complex128 if np.iscomplexobj(other) else np.float64
        exact = np.asarray(other).astype(kind)
        scale = np.nanmax(np.abs(exact), initial=1e-3)
        tolerances = {"rtol": 10 * rounding, "atol": rounding * scale}
        np.testing.assert_allclose(np.asarray(one).astype(kind), exact, **tolerances)
