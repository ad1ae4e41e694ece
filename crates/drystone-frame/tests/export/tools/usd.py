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


def title(path):
    return stage.GetPrimAtPath(path).GetMetadata("displayName")


joints = [UsdPhysics.Joint(prim) for prim in stage.Traverse() if prim.IsA(UsdPhysics.Joint)]
hinges = [UsdPhysics.RevoluteJoint(j.GetPrim()) for j in joints if j.GetPrim().IsA(UsdPhysics.RevoluteJoint)]
materials = [UsdPhysics.MaterialAPI(p) for p in stage.Traverse() if p.HasAPI(UsdPhysics.MaterialAPI)]
masses = [UsdPhysics.MassAPI(p) for p in stage.Traverse() if p.HasAPI(UsdPhysics.MassAPI)]

print(json.dumps({
    "validators": len(validators),
    "errors": [f"{error.GetName()}: {error.GetMessage()}" for error in found],
    "frames": [stage.GetStartTimeCode(), stage.GetEndTimeCode(), stage.GetTimeCodesPerSecond()],
    "rigid_bodies": sum(prim.HasAPI(UsdPhysics.RigidBodyAPI) for prim in stage.Traverse()),
    "mass": sum(mass.GetMassAttr().Get() for mass in masses),
    "friction": [m.GetDynamicFrictionAttr().Get() for m in materials],
    "joints": {
        j.GetPrim().GetTypeName().removeprefix("Physics").removesuffix("Joint"): [
            [title(path) for path in rel.GetTargets()] for rel in (j.GetBody0Rel(), j.GetBody1Rel())
        ]
        for j in joints
    },
    "hinge_limits": [x for h in hinges for x in (h.GetLowerLimitAttr().Get(), h.GetUpperLimitAttr().Get())],
    "positions": [[position(body, frame) for frame in question["frames"]] for body in question["bodies"]],
}))
