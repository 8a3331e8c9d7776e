//===- SdyAttrs.td - Attributes of the sdy dialect ---------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SDY_ATTRS
#define SDY_ATTRS

include "SdyDialect.td"
include "SdyEnums.td"
include "mlir/IR/AttrTypeBase.td"

//===----------------------------------------------------------------------===//
// Base classes
//===----------------------------------------------------------------------===//

class Sdy_Attr<string name, string mnemonic_, list<Trait> traits = []>
    : AttrDef<Sdy_Dialect, name, traits> {
  let mnemonic = mnemonic_;
}

class Sdy_ArrayParameter<string element, string description = "">
    : ArrayRefParameter<element, description>;

// Either a `MeshAttr` or a flat reference to the symbol of an `sdy.mesh`.
class Sdy_MeshOrRefParameter<string description> : AttrParameter<"::mlir::Attribute", description>;

// A parameter that an enum attribute of this dialect constrains.
class Sdy_EnumParameter<I32EnumAttr enum, string description>
    : AttrParameter<enum.cppNamespace # "::" # enum.className, description>;

class Sdy_DefaultedEnumParameter<I32EnumAttr enum, string case, string description>
    : DefaultValuedParameter<enum.cppNamespace # "::" # enum.className,
                             enum.cppNamespace # "::" # enum.className # "::" # case, description>;

//===----------------------------------------------------------------------===//
// Meshes and axes
//===----------------------------------------------------------------------===//

def Sdy_ManualAxes : Sdy_Attr<"ManualAxes", "manual_axes"> {
  let summary = "Axes along which a manual computation is manual";
  let description = [{
    The names of the mesh axes along which the body of an `sdy.manual_computation` is local. Only
    full axes can be listed. Neither order nor uniqueness is verified.

    **Syntax:** `{"x", "y"}`
  }];
  let parameters = (ins Sdy_ArrayParameter<"StringAttr", "names of the manual axes">:$value);
  let hasCustomAssemblyFormat = 1;
}

def Sdy_MeshAxis : Sdy_Attr<"MeshAxis", "mesh_axis"> {
  let summary = "Named axis of a mesh";
  let description = [{
    A name and a size. The size is at least 1.

    **Syntax:** `"x"=4`
  }];
  let parameters = (ins
    StringRefParameter<"name of the axis">:$name,
    AttrParameter<"int64_t", "size of the axis">:$size
  );
  let assemblyFormat = "$name `` `=` `` $size";
  let genVerifyDecl = 1;
}

def Sdy_Mesh : Sdy_Attr<"Mesh", "mesh"> {
  let summary = "Mesh of axes and the devices on it";
  let description = [{
    A list of named axes, major to minor, and optionally the order of the devices: the device at
    a position of the mesh is the entry of `device_ids` at the row-major index of the position.
    Without `device_ids`, device i is at index i.

    | kind | axes | device ids | meaning |
    |---|---|---|---|
    | empty | none | none | placeholder that unifies with every mesh |
    | maximal | none | exactly one | the entire tensor is on that device |
    | ordinary | at least one | none or a permutation | |

    A mesh with axes is never maximal, even when the product of its axes is 1.

    **Syntax:**

    - `<["a"=2, "b"=3]>`: six devices in their natural order
    - `<["a"=3, "b"=2], device_ids=[0, 2, 4, 1, 3, 5]>`: the same number in a given order
    - `<[], device_ids=[3]>`: maximal, device 3
    - `<[]>`: empty

    **Constraints:**

    - Device ids are non-negative.
    - Without axes there is at most one device id.
    - With axes, their names are pairwise distinct, and the device ids, if there are any, are a
      permutation of 0, 1, ... up to the product of the axis sizes minus 1. The identity permutation
      is dropped when the attribute is built, so that equal meshes are equal attributes.
  }];
  let parameters = (ins
    Sdy_ArrayParameter<"MeshAxisAttr", "axes of the mesh">:$axes,
    OptionalArrayRefParameter<
      "int64_t", "explicit order of the devices, or the device of a maximal mesh">:$device_ids
  );
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Sdy_SubAxisInfo : Sdy_Attr<"SubAxisInfo", "sub_axis_info"> {
  let summary = "Part of a full axis that a sub-axis is";
  let description = [{
    Splitting an axis of size n into sub-axes reshapes it to `[k_1, ..., k_n]`. The i-th sub-axis
    is given by the product of the sizes to its left, its *pre-size* `k_1 * ... * k_(i-1)`, and
    its own size `k_i`.

    **Syntax:** `(2)4` has pre-size 2 and size 4.

    **Constraints**, checked where the axis is known:

    - The pre-size is at least 1 and the size greater than 1.
    - The pre-size times the size divides the size of the full axis.
    - The size differs from that of the full axis; references to a full axis have no sub-axis info.
  }];
  let parameters = (ins
    AttrParameter<"int64_t", "product of the sizes of the sub-axes to the left">:$pre_size,
    AttrParameter<"int64_t", "size of the sub-axis">:$size
  );
  let assemblyFormat = "`(` $pre_size `)` `` $size";
}

def Sdy_AxisRef : Sdy_Attr<"AxisRef", "axis_ref"> {
  let summary = "Reference to a full axis or to a sub-axis";
  let description = [{
    **Syntax:** `"x"` is the full axis, `"x":(2)4` its sub-axis of pre-size 2 and size 4.

    **Constraints**, checked where the mesh is known:

    - The name is an axis of the mesh.
    - The sub-axis, if given, satisfies the constraints of `SubAxisInfoAttr`.
  }];
  let parameters = (ins
    StringRefParameter<"name of the axis">:$name,
    OptionalParameter<"SubAxisInfoAttr", "part of the axis; the full axis if absent">
      :$sub_axis_info
  );
  let hasCustomAssemblyFormat = 1;
}

def Sdy_AxisRefList : Sdy_Attr<"AxisRefList", "axis_ref_list"> {
  let summary = "List of axis references";
  let description = [{
    **Syntax:** `{"x", "y":(1)2}`

    **Constraints**, checked where the mesh is known:

    - Each element satisfies the constraints of `AxisRefAttr`.
    - No axis occurs twice, and no two sub-axes overlap.
    - No two adjacent elements are consecutive sub-axes of one axis; they must be merged.
  }];
  let parameters = (ins Sdy_ArrayParameter<"AxisRefAttr", "axis references">:$value);
  let hasCustomAssemblyFormat = 1;
}

def Sdy_ListOfAxisRefLists : Sdy_Attr<"ListOfAxisRefLists", "list_of_axis_ref_lists"> {
  let summary = "List of lists of axis references, one for each dimension";
  let description = [{
    **Syntax:** `[{"x"}, {}, {"y", "z":(1)2}\]`
  }];
  let parameters = (ins Sdy_ArrayParameter<"AxisRefListAttr", "one list for each dimension">:$value);
  let hasCustomAssemblyFormat = 1;
}

//===----------------------------------------------------------------------===//
// Shardings
//===----------------------------------------------------------------------===//

def Sdy_DimensionSharding : Sdy_Attr<"DimensionSharding", "dimension_sharding"> {
  let summary = "Sharding of one dimension";
  let description = [{
    The axes that split a dimension, major to minor, whether propagation may add further axes,
    and an optional priority.

    An *open* dimension may be sharded further, after the axes it has; a *closed* one may not.
    Priorities order propagation: the shardings of priority 0 are propagated before those of
    priority 1, and so on. A dimension without a priority has priority 0.

    **Syntax:** `{"x", "y"}` is closed, `{"x", ?}` open, `{?}` open without axes, and
    `{"x", ?}p2` open with priority 2.

    **Constraints**, checked where the mesh is known:

    - The axes satisfy the constraints of `AxisRefListAttr`.
    - The priority, if given, is non-negative, and the dimension is then open or has an axis.
  }];
  let parameters = (ins
    Sdy_ArrayParameter<"AxisRefAttr", "axes, major to minor">:$axes,
    AttrParameter<"bool", "whether the dimension cannot be sharded further">:$is_closed,
    OptionalParameter<"std::optional<int64_t>", "priority in propagation; 0 is the highest">
      :$priority
  );
  let hasCustomAssemblyFormat = 1;
}

def Sdy_TensorSharding : Sdy_Attr<"TensorSharding", "sharding"> {
  let summary = "Sharding of a tensor";
  let description = [{
    A tensor sharding is bound to a mesh and refers only to axes of that mesh. For each dimension it
    lists the axes and sub-axes that split the dimension, major to minor.

    The tensor is replicated along an axis that splits no dimension: *explicitly* if the axis is
    listed in `replicated_axes`, so that propagation cannot use it, and *implicitly* otherwise.

    Along an *unreduced* axis each device holds a partial value; the tensor is the reduction of
    the partial values over that axis. For example, if the contracting dimension of a matrix
    product is split along "x" on both sides, the product is unreduced along "x" until an
    all-reduce completes it. Linear operations may be applied to the partial values before they are
    completed. `reduction_kind` is the reduction that completes them.

    The mesh is either the symbol of an `sdy.mesh` or inlined.

    **Syntax:**

    - `#sdy.sharding<@mesh, [{"x"}, {"y", ?}p1]>`
    - `#sdy.sharding<@mesh, [{"x":(1)2}, {}\], replicated={"y"}, unreduced={"z"}>`
    - `#sdy.sharding<@mesh, [{}\], unreduced=max{"z"}>`
    - `#sdy.sharding<mesh<["x"=4]>, [{"x"}\]>`

    **Constraints**, checked where the mesh and the type are known:

    - The elements of `dim_shardings`, `replicated_axes` and `unreduced_axes` satisfy the
      constraints of `DimensionShardingAttr` and `AxisRefListAttr`.
    - On a value without a shape, and on a maximal mesh, there are no dimensions and no axes.
    - A shaped type is ranked, and its rank is the number of dimension shardings.
    - No axis occurs twice, and no two sub-axes overlap, in all the lists together.
    - Replicated and unreduced axes are each in the order of the mesh.
    - No axis is a manual axis of an enclosing manual computation.
  }];
  let parameters = (ins
    Sdy_MeshOrRefParameter<"mesh, or symbol of an `sdy.mesh`">:$mesh_or_ref,
    Sdy_ArrayParameter<"DimensionShardingAttr", "one sharding for each dimension">:$dim_shardings,
    OptionalArrayRefParameter<"AxisRefAttr", "axes that must replicate the tensor">
      :$replicated_axes,
    OptionalArrayRefParameter<"AxisRefAttr", "axes along which values are partial">
      :$unreduced_axes,
    Sdy_DefaultedEnumParameter<Sdy_ReductionOp, "SUM", "reduction over the unreduced axes">
      :$reduction_kind
  );
  let hasCustomAssemblyFormat = 1;
}

def Sdy_TensorShardingPerValue : Sdy_Attr<"TensorShardingPerValue", "sharding_per_value"> {
  let summary = "One tensor sharding for each operand or result of an operation";
  let description = [{
    **Syntax:** `#sdy.sharding_per_value<[<@mesh, [{"x"}\]>, <@mesh, [{}, {"y", ?}\]>]>`

    **Constraints:** each element satisfies the constraints of `TensorShardingAttr` for its value.
    The meshes of the elements may differ.
  }];
  let parameters = (ins
    Sdy_ArrayParameter<"TensorShardingAttr", "one sharding for each value">:$shardings
  );
  let hasCustomAssemblyFormat = 1;
}

//===----------------------------------------------------------------------===//
// Sharding rules
//===----------------------------------------------------------------------===//

def Sdy_DimMapping : Sdy_Attr<"DimMapping", "dim_mapping"> {
  let summary = "Factors of a dimension";
  let description = [{
    The factors, as indices into the rule's list of factors, whose product is the dimension,
    major to minor.

    **Syntax:** `i`, `jk`, `z_1`. Factors 0 to 17 are the letters `i` to `z`; factor 17+n is `z_n`.

    **Constraints:**

    - There is at least one factor, and each is less than the number of factors of the rule.
    - No factor occurs twice.
    - With several factors, none has size 1.
  }];
  let parameters = (ins
    Sdy_ArrayParameter<"int64_t", "factors of the dimension, major to minor">:$factor_indices
  );
  let hasCustomAssemblyFormat = 1;
}

def Sdy_TensorMapping : Sdy_Attr<"TensorMapping", "tensor_mapping"> {
  let summary = "Factors of each dimension of a tensor";
  let description = [{
    **Syntax:** `[i, jk]`

    **Constraints:** the elements satisfy the constraints of `DimMappingAttr`, and no factor
    occurs in two dimensions.
  }];
  let parameters = (ins
    Sdy_ArrayParameter<"DimMappingAttr", "one mapping for each dimension">:$dim_mappings
  );
  let hasCustomAssemblyFormat = 1;
}

def Sdy_OpShardingRule : Sdy_Attr<"OpShardingRule", "op_sharding_rule"> {
  let summary = "Mapping of the dimensions of an operation to factors";
  let description = [{
    A rule describes an operation as a loop nest whose loops are called *factors*. It lists the
    factors of each dimension of each operand and result. Dimensions that share a factor should be
    sharded alike along it. For example, a matrix product:

    ```mlir
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] {
      sdy.sharding_rule = #sdy.op_sharding_rule<
        ([i, k], [k, j])->([i, j]) {i=8, j=16, k=4} reduction={k}>
    } : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
    ```

    Each factor is of one type:

    - *reduction*: sharding it produces partial results, which a reduction must complete;
    - *need replication*: it must not be sharded when the operation executes;
    - *permutation*: sharding it requires communication between neighboring shards, such as
      a collective permute;
    - *pass-through*, if listed as none of these: no communication if the tensors have compatible
      shardings.

    Independently of its type, propagation along a factor may be blocked. Factors of size 1 are
    allowed, so that rules do not depend on sizes. Passes neither remove nor replace a *custom*
    rule, which is given by the user.

    **Constraints:**

    - There is a mapping for each operand and result, with the rank of its type; there is at
      least one of each.
    - Every factor occurs in some mapping.
    - The lists of factors are sorted, without duplicates, and within the number of factors.
    - No factor has two types.
    - A reduction factor occurs in no result.
  }];
  let parameters = (ins
    Sdy_ArrayParameter<"int64_t", "sizes of the factors">:$factor_sizes,
    Sdy_ArrayParameter<"TensorMappingAttr", "one mapping for each operand">:$operand_mappings,
    Sdy_ArrayParameter<"TensorMappingAttr", "one mapping for each result">:$result_mappings,
    OptionalArrayRefParameter<"int64_t", "factors that need a reduction">:$reduction_factors,
    OptionalArrayRefParameter<"int64_t", "factors that need replication">
      :$need_replication_factors,
    OptionalArrayRefParameter<"int64_t", "factors that need a collective permute">
      :$permutation_factors,
    OptionalArrayRefParameter<"int64_t", "factors along which shardings do not propagate">
      :$blocked_propagation_factors,
    DefaultValuedParameter<"bool", "false", "whether the rule was given by the user">
      :$is_custom_rule
  );
  let hasCustomAssemblyFormat = 1;
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

def Sdy_AllToAllParam : Sdy_Attr<"AllToAllParam", "all_to_all_param"> {
  let summary = "Move of axes between two dimensions in an all-to-all";
  let description = [{
    The moved axes, their source dimension, and their target dimension.

    **Syntax:** `{"x", "y"}: 0->2`
  }];
  let parameters = (ins
    Sdy_ArrayParameter<"AxisRefAttr", "moved axes">:$axes,
    AttrParameter<"int64_t", "source dimension">:$src_dim,
    AttrParameter<"int64_t", "target dimension">:$tgt_dim
  );
  let hasCustomAssemblyFormat = 1;
}

def Sdy_AllToAllParamList : Sdy_Attr<"AllToAllParamList", "all_to_all_param_list"> {
  let summary = "List of the moves of an all-to-all";
  let description = [{
    **Syntax:** `[{"x"}: 0->2, {"y"}: 1->3]`
  }];
  let parameters = (ins Sdy_ArrayParameter<"AllToAllParamAttr", "moves">:$value);
  let hasCustomAssemblyFormat = 1;
}

//===----------------------------------------------------------------------===//
// Record of propagation
//===----------------------------------------------------------------------===//

def Sdy_EdgeValueRef : Sdy_Attr<"EdgeValueRef", "edge_value_ref"> {
  let summary = "Reference to an operand or result of an operation";
  let description = [{
    **Syntax:** `operand-0`, `result-1`
  }];
  let parameters = (ins
    Sdy_EnumParameter<Sdy_EdgeNodeType, "operand or result">:$type,
    AttrParameter<"int64_t", "number of the operand or result">:$index
  );
  let assemblyFormat = "$type `` `-` `` $index";
}

def Sdy_AxisToPropagationDetails
    : Sdy_Attr<"AxisToPropagationDetails", "axis_to_propagation_details"> {
  let summary = "Source and targets of a propagated axis";
  let description = [{
    **Syntax:** `{"x" = operand-0 -> [result-0]}`
  }];
  let parameters = (ins
    AttrParameter<"::mlir::sdy::AxisRefAttr", "axis that was propagated">:$axis_name,
    AttrParameter<"::mlir::sdy::EdgeValueRefAttr", "value that had the axis">:$source,
    Sdy_ArrayParameter<"EdgeValueRefAttr", "values that received the axis">:$targets
  );
  let hasCustomAssemblyFormat = 1;
}

def Sdy_PropagationOneStep : Sdy_Attr<"PropagationOneStep", "propagation_one_step"> {
  let summary = "Axes that one propagation step propagated through an operation";
  let description = [{
    **Syntax:** `{step-2 = [{"x" = operand-0 -> [result-0]}\]}`
  }];
  let parameters = (ins
    AttrParameter<"int64_t", "index of the step">:$step_index,
    Sdy_ArrayParameter<"AxisToPropagationDetailsAttr", "one entry for each axis propagated">
      :$axis_entries
  );
  let hasCustomAssemblyFormat = 1;
}

def Sdy_PropagationEdges : Sdy_Attr<"PropagationEdges", "propagation_edges"> {
  let summary = "Axes that propagation propagated through an operation, by step";
  let description = [{
    Debug information, attached as `sdy.propagation_edges`.

    **Syntax:** `#sdy.propagation_edges<[{step-0 = [{"x" = operand-0 -> [result-0]}\]}\]>`

    **Constraints:**

    - Step indices are non-negative and pairwise distinct.
    - In each entry the targets are pairwise distinct and differ from the source.
  }];
  let parameters = (ins
    Sdy_ArrayParameter<"PropagationOneStepAttr", "steps that propagated an axis">:$value
  );
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

#endif // SDY_ATTRS
