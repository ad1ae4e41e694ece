"""Renders a frame of an exported recording in Blender, without a screen.

python blender.py FILE.glb FRAME PICTURE.png   (Python 3.11 with `pip install bpy`)
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
camera.location = (5.0, -9.5, 4.2)
camera.rotation_euler = (Vector((0.0, -0.6, 0.8)) - camera.location).to_track_quat("-Z", "Y").to_euler()
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
