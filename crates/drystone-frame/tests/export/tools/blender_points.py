"""Opens a .glb, .usda, .pc2 or .mdd in Blender and prints where the points of a mesh are."""
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
kind = path.rsplit(".", 1)[1]
if kind == "glb":
    bpy.ops.import_scene.gltf(filepath=path)
elif kind == "usda":
    bpy.ops.wm.usd_import(filepath=path)
else:
    # As it is, without turning axes, and so is the cache.
    bpy.ops.wm.obj_import(filepath=os.path.abspath(question["mesh"]), forward_axis="Y", up_axis="Z")
    modifier = bpy.context.object.modifiers.new("cache", "MESH_CACHE")
    modifier.cache_format = kind.upper()
    modifier.filepath = path
    modifier.frame_start = 0
    modifier.play_mode = "SCENE"


def find(name):
    fit = "".join(c if c.isalnum() else "_" for c in name)
    return bpy.data.objects.get(name) or bpy.data.objects[fit]


def points(frame):
    scene.frame_set(frame)
    found = find(question["name"]).evaluated_get(bpy.context.evaluated_depsgraph_get())
    places = [found.matrix_world @ vertex.co for vertex in found.to_mesh().vertices]
    # Blender's z is up: its (x, y, z) is our (x, z, -y).
    return [[x, z, -y] if kind in ("glb", "usda") else [x, y, z] for x, y, z in places]


print(json.dumps({"points": [points(frame) for frame in question["frames"]]}))
