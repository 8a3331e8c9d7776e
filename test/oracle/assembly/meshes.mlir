sdy.mesh @a = <["x"=2, "y"=3], device_ids=[5, 4, 3, 2, 1, 0]>
sdy.mesh @"b c" = <["an \"axis\""=2]> {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}]}}
sdy.mesh @maximal = <[], device_ids=[3]>
sdy.mesh @empty = <[]>
