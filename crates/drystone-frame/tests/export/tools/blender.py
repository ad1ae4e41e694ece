"""Opens a .glb or .usda in Blender and prints objects, frame range and where bodies are."""
import json
import os
import sys

try:
    import bpy
except ImportError:
    sys.exit(print("pip install bpy for the Python 3.11 that DRYSTONE_BLENDER_PYTHON names", file=sys.stderr) or 77)

path, question = os.path.abspath(sys.argv[1]), json.load(open(sys.argv[2]))
bpy.ops.wm.read_factory_settings(use_empty=True)
scene = bpy.context.scene
scene.render.fps = int(question["rate"])
if path.endswith(".glb"):
    bpy.ops.import_scene.gltf(filepath=path)
    ranges = [tuple(action.frame_range) for action in bpy.data.actions]
    frame_range = [min(r[0] for r in ranges), max(r[1] for r in ranges)]
else:
    bpy.ops.wm.usd_import(filepath=path)
    frame_range = [float(scene.frame_start), float(scene.frame_end)]


def find(name):
    # USD has letters, digits and underscores only.
    fit = "".join(c if c.isalnum() else "_" for c in name)
    return bpy.data.objects.get(name) or bpy.data.objects[fit]


def position(body, frame):
    scene.frame_set(frame)
    # Blender's z is up: its (x, y, z) is our (x, z, -y).
    x, y, z = find(body).matrix_world.translation
    return [x, z, -y]


print(json.dumps({
    "objects": [o.name for o in bpy.data.objects],
    "range": frame_range,
    "positions": [[position(body, frame) for frame in question["frames"]] for body in question["bodies"]],
}))
