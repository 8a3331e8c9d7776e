//===- Mpmd.td - The mpmd dialect --------------------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MPMD
#define MPMD

include "SdyAttrs.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/CommonTypeConstraints.td"
include "mlir/IR/DialectBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Mpmd_Dialect : Dialect {
  let name = "mpmd";
  let cppNamespace = "::mlir::mpmd";
  let summary = "Programs on several meshes";
  let description = [{
    A program on several named meshes consists of *fragments*, each a computation that one mesh runs
    as one SPMD program, and of *transfers* of values between meshes. The *topology* is the ordered
    list of meshes; a function with the attribute `topology` is an MPMD function.

    The user writes *named computations*, and assigns their names to meshes. The import makes
    fragments of them, and infers the meshes of all other operations.

    ```mlir
    func.func @main(%x: !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>)
        -> !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
        attributes {topology = #mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>>} {
      %0 = mpmd.fragment<mesh="m1", origin=["f"]> (%x) (%a: tensor<4x8xf32>) {
        %2 = stablehlo.tanh %a : tensor<4x8xf32>
        mpmd.return %2 : tensor<4x8xf32>
      } : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
      %1 = mpmd.transfer %0 : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>)
          -> !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
      return %1 : !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
    }
    ```
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
}

//===----------------------------------------------------------------------===//
// Attributes and types
//===----------------------------------------------------------------------===//

class Mpmd_Attr<string name, string mnemonic_> : AttrDef<Mpmd_Dialect, name> {
  let mnemonic = mnemonic_;
}

def Mpmd_ReductionType : I32EnumAttr<"ReductionType", "kind of a reduction", [
    I32EnumAttrCase<"NONE", 0, "none">,
    I32EnumAttrCase<"ADD", 1, "add">,
    I32EnumAttrCase<"MAX", 2, "max">,
    I32EnumAttrCase<"MIN", 3, "min">,
    I32EnumAttrCase<"MUL", 4, "mul">,
    I32EnumAttrCase<"OR", 5, "or">,
    I32EnumAttrCase<"AND", 6, "and">]> {
  let cppNamespace = "::mlir::mpmd";
}

def Mpmd_Reduction : Mpmd_Attr<"Reduction", "reduction"> {
  let summary = "Kind of a reduction";
  let description = [{
    One of `none`, `add`, `max`, `min`, `mul`, `or` and `and`.

    **Syntax:** `#mpmd.reduction<max>`
  }];
  let parameters = (ins Sdy_EnumParameter<Mpmd_ReductionType, "the kind">:$kind);
  let hasCustomAssemblyFormat = 1;
}

def Mpmd_NamedMesh : Mpmd_Attr<"NamedMesh", "named_mesh"> {
  let summary = "Mesh with a name";
  let description = [{
    **Syntax:** `#mpmd.named_mesh<"m1" : <["x"=2]>>`
  }];
  let parameters = (ins
    StringRefParameter<"name of the mesh">:$name,
    AttrParameter<"::mlir::sdy::MeshAttr", "axes of the mesh">:$mesh
  );
  let hasCustomAssemblyFormat = 1;
}

def Mpmd_Topology : Mpmd_Attr<"Topology", "topology"> {
  let summary = "Meshes of a program, in the order of the pipeline";
  let description = [{
    There is at least one mesh.

    **Syntax:** `#mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2, "y"=2]>>>`
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::mpmd::NamedMeshAttr", "the meshes">:$meshes);
  let hasCustomAssemblyFormat = 1;
}

def Mpmd_UserOrigin : Mpmd_Attr<"UserOrigin", "user_origin"> {
  let summary = "Named computation of the user that a fragment comes from";
  let description = [{
    The transpose count is 0 for a forward computation, 1 for its backward computation, and n after
    n transpositions. A count of 0 isn't printed.

    **Syntax:** `#mpmd.user_origin<"f"(1)>`
  }];
  let parameters = (ins
    StringRefParameter<"name of the computation">:$user_name,
    DefaultValuedParameter<"int64_t", "0", "number of transpositions">:$transpose_count
  );
  let hasCustomAssemblyFormat = 1;
}

def Mpmd_MeshWithOrigins : Mpmd_Attr<"MeshWithOrigins", "mesh_with_origins"> {
  let summary = "Mesh with the origins of an assignment to it";
  let description = [{
    **Syntax:** `<"m1"["a", "b"]>`
  }];
  let parameters = (ins
    StringRefParameter<"name of the mesh">:$mesh_name,
    ArrayRefParameter<"StringAttr", "labels of the origins">:$origins
  );
  let hasCustomAssemblyFormat = 1;
}

def Mpmd_MeshesWithOrigins : Mpmd_Attr<"MeshesWithOrigins", "meshes_with_origins"> {
  let summary = "Meshes that a value is used on, or can be on, with the reasons";
  let description = [{
    The state of mesh inference. Each mesh has labels of its origins.

    **Syntax:** `#mpmd.meshes_with_origins<"m1"["a", "b"], "m2">`
  }];
  let parameters = (ins
    ArrayRefParameter<"::mlir::mpmd::MeshWithOriginsAttr", "the meshes">:$meshes
  );
  let hasCustomAssemblyFormat = 1;
}

def Mpmd_MeshTensor : TypeDef<Mpmd_Dialect, "MeshTensor"> {
  let mnemonic = "mesh_tensor";
  let summary = "Tensor on a mesh";
  let description = [{
    The tensor is the global type. Without a sharding it is replicated; without a memory kind it is
    in the memory of the devices. The kinds are `device` and `pinned_host`.

    **Syntax:**

    - `!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>`
    - `!mpmd.mesh_tensor<"m1", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {}\]>>`
    - `!mpmd.mesh_tensor<"m1", tensor<4x8xf32>, memory_kind="pinned_host">`
  }];
  let parameters = (ins
    StringRefParameter<"name of the mesh">:$mesh_name,
    TypeParameter<"::mlir::RankedTensorType", "the global type">:$ranked_tensor_type,
    OptionalParameter<"::mlir::sdy::TensorShardingAttr", "sharding on the mesh">:$sharding,
    OptionalParameter<"StringRef", "kind of the memory">:$memory_kind
  );
  let hasCustomAssemblyFormat = 1;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

class Mpmd_Op<string mnemonic, list<Trait> traits = []> : Op<Mpmd_Dialect, mnemonic, traits>;

def Mpmd_OriginArray : ArrayAttrBase<CPred<"true">, "array of origins">;

def Mpmd_ReturnOp : Mpmd_Op<"return", [Pure, ReturnLike, Terminator]> {
  let summary = "Terminates a region of an mpmd operation";
  let description = [{
    ```mlir
    mpmd.return %0, %1 : tensor<8x16xf32>, tensor<4xi32>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$results);
  let assemblyFormat = "attr-dict ($results^ `:` type($results))?";
}

def Mpmd_NamedComputationOp : Mpmd_Op<"named_computation", [
    IsolatedFromAbove, RecursiveMemoryEffects, SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "Computation with a name";
  let description = [{
    A part of the user's program. Its name is assigned to a mesh, or to a mesh and a stage.

    ```mlir
    %1 = mpmd.named_computation<"f"(1)> (%0) (%a: tensor<4x8xf32>) {
      mpmd.return %a : tensor<4x8xf32>
    } : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Mpmd_UserOrigin:$origin, Variadic<AnyType>:$tensors);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$region);
  let assemblyFormat = [{
    `` `<` custom<UserOrigin>($origin) `>` `(` $tensors `)` attr-dict
    custom<SingleBlockRegionNoBlockId>($region) `:` functional-type($tensors, results)
  }];
  let hasVerifier = 1;
}

def Mpmd_NamedTensorOp : Mpmd_Op<"named_tensor", [Pure, SameOperandsAndResultType]> {
  let summary = "Tensor with a name";
  let description = [{
    The result is the operand. The name is assigned to a mesh.

    ```mlir
    %1 = mpmd.named_tensor %0 name="n" : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$tensor, StrAttr:$name);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$tensor `name` `` `=` `` $name attr-dict `:` type($result)";
}

def Mpmd_FragmentOp : Mpmd_Op<"fragment", [
    IsolatedFromAbove, RecursiveMemoryEffects, SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "Computation of one mesh";
  let description = [{
    The mesh runs the body as one SPMD program. Operands and results lie on the mesh; arguments of
    the body and returned values have their global types. A fragment without an origin is one that
    the compiler made.

    ```mlir
    %1 = mpmd.fragment<mesh="m1", origin=["f", "g"(1)], stage=2> (%0) (%a: tensor<4x8xf32>) {
      mpmd.return %a : tensor<4x8xf32>
    } : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
    ```
  }];
  let arguments = (ins
    Mpmd_OriginArray:$origin,
    StrAttr:$mesh_name,
    OptionalAttr<I64Attr>:$stage_id,
    Variadic<AnyType>:$inputs,
    OptionalAttr<Sdy_TensorShardingPerValue>:$in_shardings,
    OptionalAttr<Sdy_TensorShardingPerValue>:$out_shardings
  );
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$region);
  let assemblyFormat = [{
    `` `<` `mesh` `` `=` `` $mesh_name `,` `origin` `` `=` `` custom<UserOrigins>($origin)
    (`,` `stage` `` `=` `` $stage_id^)?
    (`,` `in_shardings` `` `=` `` custom<StrippedTensorShardingPerValueAttr>($in_shardings)^)?
    (`,` `out_shardings` `` `=` `` custom<StrippedTensorShardingPerValueAttr>($out_shardings)^)?
    `>` `(` $inputs `)` attr-dict
    custom<SingleBlockRegionNoBlockId>($region) `:` functional-type($inputs, results)
  }];
  let hasVerifier = 1;
}

def Mpmd_FragmentCallOp : Mpmd_Op<"fragment_call", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Call of a function by one mesh";
  let description = [{
    Fragments with equal bodies share a function, whose attribute `mesh_shape` is the mesh.

    ```mlir
    %1 = mpmd.fragment_call<mesh="m1", origin=["f"]> @h(%0)
        : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
    ```
  }];
  let arguments = (ins
    Mpmd_OriginArray:$origin,
    StrAttr:$mesh_name,
    FlatSymbolRefAttr:$callee,
    Variadic<AnyType>:$tensors
  );
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    `` `<` `mesh` `` `=` `` $mesh_name `,` `origin` `` `=` `` custom<UserOrigins>($origin) `>`
    $callee `` `(` $tensors `)` attr-dict `:` functional-type($tensors, results)
  }];
  let hasVerifier = 1;
}

def Mpmd_TransferOp : Mpmd_Op<"transfer", [Pure]> {
  let summary = "Move of a value to a mesh, a sharding or a kind of memory";
  let description = [{
    ```mlir
    %1 = mpmd.transfer %0 : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>)
        -> !mpmd.mesh_tensor<"m2", tensor<4x8xf32>>
    ```
  }];
  let arguments = (ins AnyType:$tensor);
  let results = (outs AnyType:$result);
  let assemblyFormat = "attr-dict $tensor `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Mpmd_AssignOp : Mpmd_Op<"assign", [Pure]> {
  let summary = "Assignment of a tensor to a mesh";
  let description = [{
    ```mlir
    %1 = mpmd.assign {origin = "f"} %0
        : (tensor<4x8xf32>) -> !mpmd.mesh_tensor<"m1", tensor<4x8xf32>>
    ```
  }];
  let arguments = (ins AnyType:$tensor, OptionalAttr<StrAttr>:$origin);
  let results = (outs AnyType:$result);
  let assemblyFormat = "attr-dict $tensor `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Mpmd_UnassignOp : Mpmd_Op<"unassign", [Pure]> {
  let summary = "Tensor of a value on a mesh, without its mesh";
  let description = [{
    ```mlir
    %1 = mpmd.unassign {origin = "f"} %0
        : (!mpmd.mesh_tensor<"m1", tensor<4x8xf32>>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins AnyType:$tensor, OptionalAttr<StrAttr>:$origin);
  let results = (outs AnyType:$result);
  let assemblyFormat = "attr-dict $tensor `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Mpmd_CallOp : Mpmd_Op<"call", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Call of a function on several meshes";
  let description = [{
    The call counter is the number of the microbatch. The general inliner doesn't inline the call.

    ```mlir
    %1 = mpmd.call @g(%0) {call_counter = 1 : ui32} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$tensors);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $callee `` `(` $tensors `)` attr-dict `:` functional-type($tensors, results)
  }];
  let hasVerifier = 1;
}

def Mpmd_ForOp : Mpmd_Op<"for", [
    RecursiveMemoryEffects, SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "Loop with a fixed number of iterations";
  let description = [{
    The last argument of the body is the index, which counts from 0. The other ones are the operands
    in the first iteration, then the values that the body returns.

    ```mlir
    %1 = mpmd.for (%0) {iterations = 4 : ui32, unroll_factor = 4 : ui32}
        (%a: tensor<4x8xf32>, %index: tensor<ui32>) {
      mpmd.return %a : tensor<4x8xf32>
    } : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins
    Variadic<AnyType>:$tensors,
    UI32Attr:$iterations,
    OptionalAttr<UI32Attr>:$unroll_factor
  );
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$region);
  let assemblyFormat = [{
    `(` $tensors `)` attr-dict custom<SingleBlockRegionNoBlockId>($region)
    (`:` type($tensors)^)?
  }];
  let hasVerifier = 1;
}

def Mpmd_BroadcastOp : Mpmd_Op<"broadcast", [Pure, SameOperandsAndResultType]> {
  let summary = "Marks a value that several meshes use";
  let description = [{
    ```mlir
    %1 = mpmd.broadcast %0 : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$tensor);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "attr-dict $tensor `:` type($result)";
  let hasFolder = 1;
}

def Mpmd_ReduceOp : Mpmd_Op<"reduce", [Pure]> {
  let summary = "Reduction of values on several meshes";
  let description = [{
    The kind `none` marks a single value, whose producer is the reduction.

    ```mlir
    %2 = mpmd.reduce<add> %0, %1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$tensors, Mpmd_Reduction:$reduction);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    `` custom<Reduction>($reduction) attr-dict $tensors `:` functional-type($tensors, results)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif // MPMD
