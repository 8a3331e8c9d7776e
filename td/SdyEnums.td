//===- SdyEnums.td - Enums of the sdy dialect --------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SDY_ENUMS
#define SDY_ENUMS

include "mlir/IR/EnumAttr.td"

class Sdy_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::mlir::sdy";
}

def Sdy_PropagationDirection : Sdy_Enum<"PropagationDirection", "direction of propagation", [
    I32EnumAttrCase<"NONE", 0>,
    I32EnumAttrCase<"FORWARD", 1>,
    I32EnumAttrCase<"BACKWARD", 2>,
    I32EnumAttrCase<"BOTH", 3>]>;

def Sdy_EdgeNodeType : Sdy_Enum<"EdgeNodeType", "type of an edge node", [
    I32EnumAttrCase<"OPERAND", 0, "operand">,
    I32EnumAttrCase<"RESULT", 1, "result">]>;

def Sdy_ReductionOp : Sdy_Enum<"ReductionOp", "reduction that completes partial values", [
    I32EnumAttrCase<"SUM", 0, "sum">,
    I32EnumAttrCase<"MAX", 1, "max">,
    I32EnumAttrCase<"MIN", 2, "min">]>;

#endif // SDY_ENUMS
