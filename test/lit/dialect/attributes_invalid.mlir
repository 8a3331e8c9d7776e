// Texts that are no attributes, and values that no attribute can have.

// RUN: sdy-opt %s --split-input-file --verify-diagnostics

// expected-error@below {{expected the name of an sdy attribute, found '"'}}
func.func private @f() attributes {a = #sdy<"x">}

// -----

// expected-error@below {{unknown attribute `nothing` in dialect `sdy`}}
func.func private @f() attributes {a = #sdy.nothing<1>}

// -----

// expected-error@below {{'axis_ref' is written '#sdy<axis_ref...>', with the name inside the brackets}}
func.func private @f() attributes {a = #sdy.axis_ref"x"}

// -----

// expected-error@below {{expected '>', found ','}}
func.func private @f() attributes {a = #sdy<sub_axis_info(1)2, 3>}

// -----

// expected-error@below {{expected string: an axis name in double quotes, found 'x'}}
func.func private @f() attributes {a = #sdy<axis_ref_list{x}>}

// -----

// A trailing comma.
// expected-error@below {{expected string: an axis name in double quotes, found '}'}}
func.func private @f() attributes {a = #sdy<axis_ref_list{"x",}>}

// -----

// expected-error@below {{the axis size 9223372036854775808 does not fit in 64 bits}}
func.func private @f() attributes {a = #sdy<mesh_axis"x"=9223372036854775808>}

// -----

// --- Meshes ---

// expected-error@below {{axis size must be at least 1, got: 0 for axis "a"}}
sdy.mesh @m = <["a"=0]>

// -----

// expected-error@below {{duplicate axis name: "a"}}
sdy.mesh @m = <["a"=2, "b"=2, "a"=3]>

// -----

// expected-error@below {{device id must be non-negative, got: -1}}
sdy.mesh @m = <["a"=2], device_ids=[-1, 0]>

// -----

// expected-error@below {{total product of axis sizes must match total number of device ids, got: 4 != 3}}
sdy.mesh @m = <["a"=2, "b"=2], device_ids=[0, 1, 2]>

// -----

// expected-error@below {{sorted device ids must be iota(product(axes)), got: 0, 2, not 0 to 1}}
sdy.mesh @m = <["a"=2], device_ids=[0, 2]>

// -----

// expected-error@below {{axes is empty and device_ids has more than one element, got: 2}}
sdy.mesh @m = <[], device_ids=[0, 1]>

// -----

// expected-error@below {{expected integer value: at least one device id}}
sdy.mesh @m = <["a"=2], device_ids=[]>

// -----

// expected-error@below {{expected '[', found '>'}}
sdy.mesh @m = <>

// -----

// expected-error@below {{expected 'device_ids', found 'devices'}}
sdy.mesh @m = <["a"=2], devices=[1, 0]>

// -----

// --- Shardings ---

// expected-error@below {{expected a mesh '@name', found '['}}
func.func private @f() attributes {a = #sdy.sharding<[{}]>}

// -----

// expected-error@below {{expected a mesh '@name', found '@'}}
func.func private @f() attributes {a = #sdy.sharding<@"", [{}]>}

// -----

// expected-error@below {{invalid kind of attribute specified: a mesh must be a flat symbol}}
func.func private @f() attributes {a = #sdy.sharding<@a::@b, [{}]>}

// -----

// expected-error@below {{expected ',' or '}', found '?'}}
func.func private @f() attributes {a = #sdy.sharding<@m, [{"x" ?}]>}

// -----

// Nothing can follow the question mark.
// expected-error@below {{expected '}', found ','}}
func.func private @f() attributes {a = #sdy.sharding<@m, [{?, "x"}]>}

// -----

// expected-error@below {{priorities with leading zeros are not allowed, got: p01}}
func.func private @f() attributes {a = #sdy.sharding<@m, [{"x"}p01]>}

// -----

// expected-error@below {{expecting priority in format 'p<number>', got: q1}}
func.func private @f() attributes {a = #sdy.sharding<@m, [{"x"}q1]>}

// -----

// expected-error@below {{expecting integer priority, got: p9223372036854775808, which doesn't fit in 64 bits}}
func.func private @f() attributes {a = #sdy.sharding<@m, [{?}p9223372036854775808]>}

// -----

// expected-error@below {{expected string: at least one axis}}
func.func private @f() attributes {a = #sdy.sharding<@m, [{}], replicated={}>}

// -----

// expected-error@below {{'replicated' is given twice}}
func.func private @f() attributes {a = #sdy.sharding<@m, [{}], replicated={"x"}, replicated={"y"}>}

// -----

// expected-error@below {{expected 'replicated' or 'unreduced', found 'reduced'}}
func.func private @f() attributes {a = #sdy.sharding<@m, [{}], reduced={"x"}>}

// -----

// expected-error@below {{expected '{' after 'sum', 'max', 'min' or nothing, found 'mean'}}
func.func private @f() attributes {a = #sdy.sharding<@m, [{}], unreduced=mean{"x"}>}

// -----

// expected-error@below {{expected a 'sharding' attribute, found 'mesh'}}
func.func private @f() attributes {a = #sdy.sharding_per_value<[#sdy.mesh<[]>]>}

// -----

// --- Rules ---

// expected-error@below {{expecting symbol from 'i' to 'z'. Received: 'a'}}
func.func private @f() attributes {a = #sdy.op_sharding_rule<([a])->([a]) {a=2}>}

// -----

// expected-error@below {{expecting positive integer without leading zeros. Received: '01'}}
func.func private @f() attributes {a = #sdy.op_sharding_rule<([z_01])->([i]) {i=2}>}

// -----

// expected-error@below {{Expecting factor index symbol 'j', received:}}
func.func private @f() attributes {a = #sdy.op_sharding_rule<([i])->([i]) {i=2, k=3}>}

// -----

// expected-error@below {{expected '[': at least one mapping of the operands}}
func.func private @f() attributes {a = #sdy.op_sharding_rule<()->([i]) {i=2}>}

// -----

// The clauses have an order.
// expected-error@below {{expected '>', found 'reduction'}}
func.func private @f() attributes {a = #sdy.op_sharding_rule<([i])->([]) {i=2} permutation={i} reduction={i}>}

// -----

// expected-error@below {{expected 'custom', found 'costum'}}
func.func private @f() attributes {a = #sdy.op_sharding_rule<([i])->([i]) {i=2}, costum>}

// -----

// --- Edges ---

// expected-error@below {{expected ::mlir::sdy::EdgeNodeType to be one of: operand, result, found 'argument'}}
func.func private @f() attributes {a = #sdy.propagation_edges<[{step-0 = [{"x" = argument-0 -> [result-0]}]}]>}

// -----

// expected-error@below {{expected valid keyword or string: at least one target}}
func.func private @f() attributes {a = #sdy.propagation_edges<[{step-0 = [{"x" = operand-0 -> []}]}]>}

// -----

// expected-error@below {{duplicate step index: 1}}
func.func private @f() attributes {a = #sdy.propagation_edges<[{step-1 = [{"x" = operand-0 -> [result-0]}]}, {step-1 = [{"x" = operand-0 -> [result-0]}]}]>}

// -----

// expected-error@below {{propagation edges have negative step index: -1}}
func.func private @f() attributes {a = #sdy.propagation_edges<[{step--1 = [{"x" = operand-0 -> [result-0]}]}]>}

// -----

// expected-error@below {{propagation edges have a source that is the same as a target for step index: 0 and axis: x: operand-0}}
func.func private @f() attributes {a = #sdy.propagation_edges<[{step-0 = [{"x" = operand-0 -> [operand-0]}]}]>}
