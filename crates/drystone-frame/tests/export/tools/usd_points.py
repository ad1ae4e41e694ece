"""Runs all USD validators on a stage and prints where the points of a mesh are."""
import json
import sys

try:
    from pxr import Usd, UsdGeom, UsdValidation
except ImportError:
    sys.exit(print("pip install usd-core for the Python that DRYSTONE_USD_PYTHON names", file=sys.stderr) or 77)

stage = Usd.Stage.Open(sys.argv[1])
question = json.load(open(sys.argv[2]))
validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
found = UsdValidation.ValidationContext(validators).Validate(stage)
prim = next(p for p in stage.Traverse() if p.GetMetadata("displayName") == question["name"])
mesh = UsdGeom.Mesh(prim)
print(json.dumps({
    "errors": [f"{error.GetName()}: {error.GetMessage()}" for error in found],
    "points": [[list(p) for p in mesh.GetPointsAttr().Get(frame)] for frame in question["frames"]],
}))
