"""Runs all USD validators on a stage and prints where bodies are."""
import json
import sys

try:
    from pxr import Usd, UsdGeom, UsdPhysics, UsdValidation
except ImportError:
    sys.exit(print("pip install usd-core for the Python that DRYSTONE_USD_PYTHON names", file=sys.stderr) or 77)

stage = Usd.Stage.Open(sys.argv[1])
question = json.load(open(sys.argv[2]))
validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
found = UsdValidation.ValidationContext(validators).Validate(stage)


def position(name, frame):
    for prim in stage.Traverse():
        if prim.GetMetadata("displayName") == name:
            matrix = UsdGeom.Xformable(prim).ComputeLocalToWorldTransform(frame)
            return list(matrix.ExtractTranslation())


print(json.dumps({
    "validators": len(validators),
    "errors": [f"{error.GetName()}: {error.GetMessage()}" for error in found],
    "frames": [stage.GetStartTimeCode(), stage.GetEndTimeCode(), stage.GetTimeCodesPerSecond()],
    "rigid_bodies": sum(prim.HasAPI(UsdPhysics.RigidBodyAPI) for prim in stage.Traverse()),
    "positions": [[position(body, frame) for frame in question["frames"]] for body in question["bodies"]],
}))
