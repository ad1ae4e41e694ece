"""Renders a frame of an exported recording in Blender, without a screen.

python blender.py FILE.glb FRAME PICTURE.png [DISTANCE]   (Python 3.11 with `pip install bpy`)

DISTANCE of the camera is a factor, 1 if left out.
"""
import math
import os
import sys

import bpy
from mathutils import Vector

source, frame, picture = os.path.abspath(sys.argv[1]), int(sys.argv[2]), os.path.abspath(sys.argv[3])
bpy.ops.wm.read_factory_settings(use_empty=True)
scene = bpy.context.scene
scene.render.fps = 60
bpy.ops.import_scene.gltf(filepath=source)
scene.frame_set(frame)
camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
scene.collection.objects.link(camera)
target, away = Vector((0.0, -0.6, 0.8)), Vector((5.0, -8.9, 3.4))
if len(sys.argv) > 4:
    target, away = Vector((0.0, 0.0, 0.4)), away * float(sys.argv[4])
camera.location = target + away
camera.rotation_euler = (-away).to_track_quat("-Z", "Y").to_euler()
scene.camera = camera
sun = bpy.data.objects.new("sun", bpy.data.lights.new("sun", "SUN"))
sun.data.energy, sun.data.angle = 2.5, 0.05
sun.rotation_euler = (math.radians(40), math.radians(15), math.radians(30))
scene.collection.objects.link(sun)
scene.world = bpy.data.worlds.new("sky")
scene.world.use_nodes = True
nodes = scene.world.node_tree.nodes
sky = next((node for node in nodes if node.type == "BACKGROUND"), None) or nodes.new("ShaderNodeBackground")
sky.inputs["Color"].default_value = (0.7, 0.8, 0.95, 1.0)
sky.inputs["Strength"].default_value = 0.7
ends = [node for node in nodes if node.type == "OUTPUT_WORLD"] or [nodes.new("ShaderNodeOutputWorld")]
scene.world.node_tree.links.new(sky.outputs[0], ends[0].inputs[0])
scene.render.engine = "CYCLES"
scene.cycles.device = "CPU"
scene.cycles.samples = 48
scene.cycles.use_denoising = False
scene.view_settings.view_transform = "Standard"
scene.render.resolution_x, scene.render.resolution_y = 800, 450
scene.render.filepath = picture
bpy.ops.render.render(write_still=True)
