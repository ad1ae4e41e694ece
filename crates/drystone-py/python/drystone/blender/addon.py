"""Drystone in Blender: contact simulation with a certificate."""

import bpy
from bpy.props import EnumProperty, FloatProperty, FloatVectorProperty, IntProperty, PointerProperty, StringProperty
from bpy.types import Operator, Panel, PropertyGroup

bl_info = {
    "name": "Drystone", "author": "The Drystone authors", "version": (0, 1, 0), "blender": (4, 2, 0),
    "category": "Physics", "description": "Contact simulation with a certificate",
}

ROLES = [
    ("NONE", "None", "Takes no part"), ("RIGID", "Rigid", "Falls and collides"), ("FIXED", "Fixed", "Never moves"),
    ("ANIMATED", "Animated", "Follows its key frames and pushes"), ("CLOTH", "Cloth", "A sheet"),
    ("ROPE", "Rope", "Edges"), ("SOFT", "Soft", "A soft box"),
]
SHAPES = [(name, name.title(), "") for name in ("AUTO", "BOX", "BALL", "HULL", "MESH")]
JOINTS = [(name, name.title(), "") for name in ("NONE", "FIXED", "BALL", "HINGE", "SLIDER", "ROD", "ROPE")]
STRATEGIES = [(name, name.title(), "") for name in ("AUTO", "REALTIME", "VELOCITY", "PARALLEL", "BARRIER")]


class ObjectSettings(PropertyGroup):
    role: EnumProperty(name="Role", items=ROLES, default="NONE")
    shape: EnumProperty(name="Shape", items=SHAPES, default="AUTO")
    mass: FloatProperty(name="Mass", description="kg; 0: from the density", min=0.0, default=0.0)
    density: FloatProperty(name="Density", description="kg/m³", min=1e-3, default=1000.0)
    friction: FloatProperty(name="Friction", min=0.0, default=0.6)
    restitution: FloatProperty(name="Restitution", min=0.0, max=1.0, default=0.0)
    velocity: FloatVectorProperty(name="Velocity", description="At the start, m/s", size=3)
    young: FloatProperty(name="Young's modulus", description="Pa", min=1.0, default=1e5)
    thickness: FloatProperty(name="Thickness", description="m", min=1e-4, default=0.01)
    bending: FloatProperty(name="Bending", min=0.0, default=1.0)
    joint: EnumProperty(name="Joint", items=JOINTS, default="NONE")
    a: PointerProperty(name="A", type=bpy.types.Object)
    b: PointerProperty(name="B", type=bpy.types.Object)


class SceneSettings(PropertyGroup):
    strategy: EnumProperty(name="Strategy", items=STRATEGIES, default="AUTO")
    substeps: IntProperty(name="Steps a frame", description="0: as it suits the scene", min=0, default=0)


class DRYSTONE_OT_bake(Operator):
    bl_idname = "drystone.bake"
    bl_label = "Bake"
    bl_description = "Simulate all frames and keep them; Esc ends it, and baking again goes on"

    def invoke(self, context, _event):
        error = self._begin(context)
        if error:
            self.report({"ERROR"}, error)
            return {"CANCELLED"}
        context.window_manager.progress_begin(0, 100)
        self._timer = context.window_manager.event_timer_add(0.01, window=context.window)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        if event.type == "ESC":
            return self._end(context, {"CANCELLED"})
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        try:
            more = self._bake.step()
        except Exception as error:  # The engine's words belong on the screen.
            self.report({"ERROR"}, str(error))
            return self._end(context, {"CANCELLED"})
        context.window_manager.progress_update(int(100 * self._bake.progress))
        if more:
            return {"RUNNING_MODAL"}
        self._bake.finish()
        return self._end(context, {"FINISHED"})

    def execute(self, context):
        error = self._begin(context)
        if error:
            self.report({"ERROR"}, error)
            return {"CANCELLED"}
        while self._bake.step():
            pass
        self._bake.finish()
        return {"FINISHED"}

    def _begin(self, context):
        from .bake import Bake

        try:
            self._bake = Bake(context.scene)
        except Exception as error:
            return str(error)
        return None

    def _end(self, context, result):
        context.window_manager.event_timer_remove(self._timer)
        context.window_manager.progress_end()
        return result


class DRYSTONE_OT_clear(Operator):
    bl_idname = "drystone.clear"
    bl_label = "Clear"
    bl_description = "Take away what a bake made"

    def execute(self, context):
        from .bake import clear

        clear(context.scene)
        return {"FINISHED"}


class DRYSTONE_OT_export(Operator):
    bl_idname = "drystone.export"
    bl_label = "Export scene"
    bl_description = "Write what would be baked as a scene file (.toml)"

    filepath: StringProperty(subtype="FILE_PATH", default="scene.toml")

    def invoke(self, context, _event):
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context):
        from .build import build

        try:
            text = build(context.scene)[0].to_toml()
            with open(self.filepath, "w", encoding="utf-8") as file:
                file.write(text)
        except Exception as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}


class DRYSTONE_PT_object(Panel):
    bl_label = "Drystone"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "physics"

    @classmethod
    def poll(cls, context):
        return context.object is not None and context.object.type in {"MESH", "EMPTY"}

    def draw(self, context):
        layout, settings = self.layout, context.object.drystone
        layout.use_property_split = True
        if context.object.type == "EMPTY":
            names = ["joint"] + ([] if settings.joint == "NONE" else ["a", "b"])
        else:
            names = ["role"]
            if settings.role != "NONE":
                names += ["friction", "restitution"]
            if settings.role in {"RIGID", "FIXED", "ANIMATED"}:
                names += ["shape"]
            if settings.role == "RIGID":
                names += ["mass", "density", "velocity"]
            if settings.role in {"CLOTH", "ROPE", "SOFT"}:
                names += ["density", "young", "thickness", "bending"]
        for name in names:
            layout.prop(settings, name)


class DRYSTONE_PT_scene(Panel):
    bl_label = "Drystone"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "scene"

    def draw(self, context):
        layout, settings = self.layout, context.scene.drystone
        layout.use_property_split = True
        layout.prop(settings, "strategy")
        layout.prop(settings, "substeps")
        row = layout.row()
        row.operator("drystone.bake", icon="REC")
        row.operator("drystone.clear", icon="X")
        layout.operator("drystone.export", icon="EXPORT")
        text = bpy.data.texts.get("Drystone certificate")
        for line in [] if text is None else text.lines:
            if line.body:
                layout.label(text=line.body)


CLASSES = [
    ObjectSettings, SceneSettings, DRYSTONE_OT_bake, DRYSTONE_OT_clear, DRYSTONE_OT_export,
    DRYSTONE_PT_object, DRYSTONE_PT_scene,
]


def register():
    for one in CLASSES:
        bpy.utils.register_class(one)
    bpy.types.Object.drystone = PointerProperty(type=ObjectSettings)
    bpy.types.Scene.drystone = PointerProperty(type=SceneSettings)


def unregister():
    del bpy.types.Object.drystone, bpy.types.Scene.drystone
    for one in reversed(CLASSES):
        bpy.utils.unregister_class(one)
