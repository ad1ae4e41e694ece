"""Writes a stage with UsdPhysics by Pixar's own library as text, binary and package, and says in
JSON where its prims are. Usage: usd_stage.py FOLDER"""

import json
import sys

from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics, UsdShade, UsdUtils, Vt

folder = sys.argv[1]


def body(prim, mass=None):
    UsdPhysics.RigidBodyAPI.Apply(prim)
    if mass is not None:
        UsdPhysics.MassAPI.Apply(prim).CreateMassAttr(mass)


# A wheel in a file of its own, with a variant, to be referenced twice.
wheel_file = f"{folder}/wheel.usdc"
part = Usd.Stage.CreateNew(wheel_file)
wheel = UsdGeom.Xform.Define(part, "/Wheel")
part.SetDefaultPrim(wheel.GetPrim())
body(wheel.GetPrim(), 3.0)
tyre = UsdGeom.Cylinder.Define(part, "/Wheel/tyre")
tyre.CreateAxisAttr("X")
UsdPhysics.CollisionAPI.Apply(tyre.GetPrim())
sizes = wheel.GetPrim().GetVariantSets().AddVariantSet("size")
for name, radius in [("small", 20.0), ("large", 35.0)]:
    sizes.AddVariant(name)
    sizes.SetVariantSelection(name)
    with sizes.GetVariantEditContext():
        tyre.CreateRadiusAttr(radius)
        tyre.CreateHeightAttr(10.0)
sizes.SetVariantSelection("small")
part.GetRootLayer().Save()

stage = Usd.Stage.CreateNew(f"{folder}/stage.usda")
UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
UsdGeom.SetStageMetersPerUnit(stage, 0.01)
UsdPhysics.SetStageKilogramsPerUnit(stage, 1.0)
world = UsdGeom.Xform.Define(stage, "/World")
stage.SetDefaultPrim(world.GetPrim())
scene = UsdPhysics.Scene.Define(stage, "/World/scene")
scene.CreateGravityDirectionAttr(Gf.Vec3f(0, 0, -1))
scene.CreateGravityMagnitudeAttr(981.0)

ice = UsdShade.Material.Define(stage, "/World/ice")
material = UsdPhysics.MaterialAPI.Apply(ice.GetPrim())
material.CreateDynamicFrictionAttr(0.0625)
material.CreateStaticFrictionAttr(0.0625)
material.CreateRestitutionAttr(0.5)

chassis = UsdGeom.Cube.Define(stage, "/World/chassis")
chassis.CreateSizeAttr(2.0)
body(chassis.GetPrim(), 40.0)
UsdPhysics.MassAPI(chassis).CreateDiagonalInertiaAttr(Gf.Vec3f(10000, 20000, 30000))
UsdPhysics.MassAPI(chassis).CreateCenterOfMassAttr(Gf.Vec3f(0, 0, 0.5))
UsdPhysics.CollisionAPI.Apply(chassis.GetPrim())
UsdShade.MaterialBindingAPI.Apply(chassis.GetPrim()).Bind(ice, materialPurpose="physics")
chassis.AddTranslateOp().Set(Gf.Vec3d(10, 20, 300))
chassis.AddRotateXYZOp().Set(Gf.Vec3f(10, 20, 30))
chassis.AddScaleOp().Set(Gf.Vec3f(50, 30, 10))

for k, (name, size) in enumerate([("left", None), ("right", "large")]):
    prim = stage.DefinePrim(f"/World/{name}")
    prim.GetReferences().AddReference("./wheel.usdc")
    if size:
        prim.GetVariantSets().GetVariantSet("size").SetVariantSelection(size)
    xform = UsdGeom.Xformable(prim)
    xform.AddTransformOp().Set(
        Gf.Matrix4d(Gf.Rotation(Gf.Vec3d(2, -1, 3), 40.0 + k), Gf.Vec3d(100 * k, 50, 60))
    )
    joint = UsdPhysics.RevoluteJoint.Define(stage, f"/World/axle_{name}")
    joint.CreateBody0Rel().SetTargets([chassis.GetPath()])
    joint.CreateBody1Rel().SetTargets([prim.GetPath()])
    joint.CreateAxisAttr("X")
    joint.CreateLocalPos0Attr(Gf.Vec3f(1 - 2 * k, 0, 0))
    joint.CreateLowerLimitAttr(-30.0)
    joint.CreateUpperLimitAttr(45.0)
    drive = UsdPhysics.DriveAPI.Apply(joint.GetPrim(), "angular")
    drive.CreateStiffnessAttr(1000.0)
    drive.CreateDampingAttr(100.0)
    drive.CreateTargetPositionAttr(15.0)

# A mesh with more numbers than binary files leave unpacked, and one hundred equal faces.
side = 10
mesh = UsdGeom.Mesh.Define(stage, "/World/ground")
points = [Gf.Vec3f(30 * x, 30 * y, (x * y) % 5) for y in range(side + 1) for x in range(side + 1)]
corners = []
for y in range(side):
    for x in range(side):
        at = y * (side + 1) + x
        corners += [at, at + 1, at + side + 2, at + side + 1]
mesh.CreatePointsAttr(Vt.Vec3fArray(points))
mesh.CreateFaceVertexCountsAttr(Vt.IntArray([4] * side * side))
mesh.CreateFaceVertexIndicesAttr(Vt.IntArray(corners))
UsdPhysics.CollisionAPI.Apply(mesh.GetPrim())

lift = UsdGeom.Cube.Define(stage, "/World/lift")
lift.CreateSizeAttr(30.0)
body(lift.GetPrim())
UsdPhysics.RigidBodyAPI(lift).CreateKinematicEnabledAttr(True)
UsdPhysics.CollisionAPI.Apply(lift.GetPrim())
up = lift.AddTranslateOp()
for frame in range(0, 49, 12):
    up.Set(Gf.Vec3d(-300, 0, 2 * frame), frame)

group = UsdPhysics.CollisionGroup.Define(stage, "/World/wheels")
group.GetCollidersCollectionAPI().CreateIncludesRel().SetTargets(
    [Sdf.Path("/World/left"), Sdf.Path("/World/right")]
)
group.CreateFilteredGroupsRel().SetTargets([group.GetPath()])

stage.GetRootLayer().Save()
stage.GetRootLayer().Export(f"{folder}/stage.usdc")
assert UsdUtils.CreateNewUsdzPackage(f"{folder}/stage.usda", f"{folder}/stage.usdz")

places = {}
for prim in stage.Traverse():
    if prim.IsA(UsdGeom.Xformable):
        matrix = UsdGeom.Xformable(prim).ComputeLocalToWorldTransform(0)
        at = matrix.Transform(Gf.Vec3d(1, 2, 3))
        places[prim.GetName()] = [at[0] * 0.01, at[2] * 0.01, -at[1] * 0.01]
print(json.dumps(places))
