"""The Blender add-on in real Blender (`pip install bpy`, in an environment of its own)."""

import csv
import subprocess
import sys
import zipfile

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

from drystone.blender import write_zip  # noqa: E402


@pytest.fixture(scope="module")
def addon(tmp_path_factory):
    """The add-on, installed from its zip."""
    folder = tmp_path_factory.mktemp("addons")
    write_zip(folder / "drystone.zip")
    with zipfile.ZipFile(folder / "drystone.zip") as file:
        file.extractall(folder / "drystone_addon")
    sys.path.insert(0, str(folder))
    import drystone_addon

    drystone_addon.register()
    yield drystone_addon
    drystone_addon.unregister()


def give(o, **settings):
    for name, value in settings.items():
        setattr(o.drystone, name, value)
    return o


@pytest.fixture
def scene(addon, tmp_path):
    """A wall, a ball that strikes it, and a cloth beside it."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "wall.blend"))
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 24

    def cube(name, at, size, **settings):
        bpy.ops.mesh.primitive_cube_add(size=1, location=at)
        o = bpy.context.object
        o.name, o.scale = name, size
        bpy.context.view_layer.update()
        return give(o, **settings)

    cube("ground", (0, 0, -0.5), (20, 20, 1), role="FIXED")
    for row in range(3):
        for k in range(3):
            cube(f"brick {row} {k}", (0, (k - 1) * 1.02 + 0.25 * (row % 2), 0.25 + 0.5 * row), (0.5, 1, 0.5), role="RIGID")
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.3, location=(-2, 0, 1))
    give(bpy.context.object, role="RIGID", velocity=(8, 0, 0), density=5000)
    bpy.context.object.name = "ball"
    bpy.ops.mesh.primitive_grid_add(size=1, x_subdivisions=6, y_subdivisions=6, location=(0, 4, 1.2))
    give(bpy.context.object, role="CLOTH", thickness=0.01)
    bpy.context.object.name = "cloth"
    bpy.context.view_layer.update()
    return scene


def test_a_bake_is_what_the_command_line_computes(scene, tmp_path):
    assert bpy.ops.drystone.export(filepath=str(tmp_path / "wall.toml")) == {"FINISHED"}
    assert bpy.ops.drystone.bake() == {"FINISHED"}
    seconds = 23 / scene.render.fps
    command = [sys.executable, "-m", "drystone", "run", str(tmp_path / "wall.toml"), "--seconds", str(seconds), "--out", str(tmp_path / "poses.csv")]
    subprocess.run(command, check=True, capture_output=True)
    with open(tmp_path / "poses.csv") as file:
        last = list(csv.DictReader(file))[-1]

    def there(name):
        return np.array([float(last[f"{name}.{axis}"]) for axis in "xyz"])

    scene.frame_set(scene.frame_end)
    bpy.context.view_layer.update()
    ball = np.array(scene.objects["ball"].matrix_world.translation)
    assert ball[0] > -1, "it flew"
    for name in ["ball", *(f"brick {row} {k}" for row in range(3) for k in range(3))]:
        at = np.array(scene.objects[name].matrix_world.translation)
        assert np.abs(at - there(name)).max() < 1e-5, name
    cloth = scene.objects["cloth"].evaluated_get(bpy.context.evaluated_depsgraph_get())
    for k, vertex in enumerate(cloth.data.vertices):
        at = np.array(cloth.matrix_world @ vertex.co)
        assert np.abs(at - there(f"cloth/{k}")).max() < 1e-5
    assert "worst residual" in bpy.data.texts["Drystone certificate"].as_string()
    assert tuple(scene.objects["ball"].color) != (1, 1, 1, 1)
    bpy.ops.drystone.clear()
    assert scene.objects["ball"].animation_data is None or scene.objects["ball"].animation_data.action is None


def test_a_bake_that_was_ended_goes_on_bit_by_bit(scene, addon, tmp_path):
    from drystone_addon.bake import Bake, bake

    whole = bake(scene, tmp_path / "whole").frames()
    cut = Bake(scene, tmp_path / "cut")
    for _ in range(14):
        cut.step()
    del cut  # As by a crash: frames beyond the last saved world are made again.
    again = Bake(scene, tmp_path / "cut")
    assert again.frame == 10
    while again.step():
        pass
    assert np.array_equal(again.frames(), whole)
    scene.objects["ball"].drystone.velocity = (1, 0, 0)
    assert Bake(scene, tmp_path / "cut").frame == 1, "another scene begins anew"


def test_animated_objects_push_and_joints_hold(addon):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.frame_end, scene.gravity = 30, (0, 0, 0)
    bpy.ops.mesh.primitive_cube_add(size=1)
    pusher = give(bpy.context.object, role="ANIMATED")
    for frame, x in ((1, 0.0), (30, 3.0)):
        pusher.location = (x, 0, 0)
        pusher.keyframe_insert("location", frame=frame)
    bpy.ops.mesh.primitive_cube_add(size=1, location=(1.5, 0, 0))
    pushed = give(bpy.context.object, role="RIGID", friction=0.0)
    bpy.ops.mesh.primitive_cube_add(size=1, location=(1.5, 0, 3))
    hung = give(bpy.context.object, role="RIGID")
    bpy.ops.object.empty_add(location=(1.5, 0, 1.5))
    give(bpy.context.object, joint="FIXED", a=pushed, b=hung)
    scene.frame_set(1)
    bpy.context.view_layer.update()
    from drystone_addon.bake import bake
    import tempfile

    made = bake(scene, tempfile.mkdtemp())
    frames = made.frames()
    a, b = made.bodies[pushed.name], made.bodies[hung.name]
    assert frames[-1, a, 0] > 2.5
    assert np.linalg.norm(frames[-1, a, :3] - frames[-1, b, :3]) == pytest.approx(3, abs=1e-3)


def test_what_is_wrong_is_said_in_the_engines_words(scene):
    scene.objects["brick 0 0"].drystone.density = 1e30
    with pytest.raises(RuntimeError, match="brick 0 0"):
        bpy.ops.drystone.bake()


def test_panels_register_and_a_picture_is_rendered(scene, tmp_path):
    assert hasattr(bpy.types, "DRYSTONE_PT_object") and hasattr(bpy.types, "DRYSTONE_PT_scene")
    bpy.ops.drystone.bake()
    scene.frame_set(24)
    bpy.ops.object.camera_add(location=(-5, -7, 4), rotation=(1.15, 0, -0.62))
    scene.camera = bpy.context.object
    bpy.ops.object.light_add(type="SUN", location=(0, 0, 5))
    bpy.context.object.data.energy = 3
    scene.render.engine, scene.cycles.samples = "CYCLES", 8
    scene.render.resolution_x, scene.render.resolution_y = 320, 180
    scene.render.filepath = str(tmp_path / "wall.png")
    bpy.ops.render.render(write_still=True)
    assert (tmp_path / "wall.png").stat().st_size > 10_000
