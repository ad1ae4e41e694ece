"""Worlds: built, stepped, read, written, saved; errors in the engine's words."""

import copy
import gc
import os
import pickle
import subprocess
import sys
import threading
import timeit

import numpy as np
import pytest

import drystone


def falling(dimension=3, **settings):
    world = drystone.World(dimension, **settings)
    world.floor()
    at = (0, 3, 0)[:dimension]
    return world, world.box(size=1, at=at)


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_box_falls_freely_and_comes_to_rest_on_the_floor(dimension):
    world, box = falling(dimension)
    world.run(0.5)
    assert world.positions[box][1] == pytest.approx(3 - 9.81 / 2 * 0.25, abs=1e-9)
    assert world.velocities[box][1] == pytest.approx(-9.81 * 0.5, abs=1e-9)
    world.run(2.0)
    assert world.positions[box][1] == pytest.approx(0.5, abs=1e-3)
    assert world.certificate.penetration_m < 1e-3
    assert world.time == pytest.approx(2.5) and world.steps == 150


def test_sizes_are_sizes_and_masses_follow_from_them():
    world = drystone.World(density=1000)
    assert world.box(size=(2, 1, 0.5)).mass == pytest.approx(1000)
    assert world.box(size=2, at=(9, 0, 0)).mass == pytest.approx(8000)
    assert world.ball(radius=0.5, at=(0, 9, 0)).mass == pytest.approx(1000 * np.pi / 6)
    assert world.hull([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], at=(0, 0, 9)).mass == pytest.approx(1000 / 6)
    assert world.ball(mass=3, at=(0, 0, -9)).mass == pytest.approx(3)
    assert np.isinf(world.floor(-5).mass)


def test_every_shape_and_joint_and_deformable_can_be_built_and_stepped():
    world = drystone.World(dt=1 / 240)
    world.floor(-2)
    shapes = [
        world.box(at=(0, 0, 0)), world.ball(at=(2, 0, 0)), world.capsule(at=(4, 0, 0)),
        world.cylinder(at=(6, 0, 0)), world.cone(at=(8, 0, 0)),
        world.hull(np.vstack([np.eye(3), -np.eye(3)]), at=(10, 0, 0)),
        world.compound([{"shape": {"ball": {"radius": 0.3}}}, {"shape": {"box": {"size": [1, 0.2, 0.2]}}}], at=(12, 0, 0)),
    ]
    world.mesh(points=[(-1, 0, -1), (1, 0, -1), (0, 0, 1)], triangles=[(0, 2, 1)], at=(0, -1, 0))
    world.height_field((4, 4), np.zeros((3, 3)), at=(20, -1, 0))
    a = shapes
    joints = [
        world.hinge(a[0], a[1], axis=(0, 1, 0), limits=(-10, 10)), world.ball_joint(a[1], a[2]),
        world.slider(a[2], a[3], motor={"speed": 0.1, "max_force": 10}), world.rod(a[3], a[4]),
        world.spring(a[4], a[5], stiffness=10), world.rope_joint(a[5], a[6], length=3),
    ]
    assert [int(j) for j in world.joints] == [int(j) for j in joints]
    world.step(10)
    force, torque = joints[0].reaction
    assert force.shape == (3,) and np.isfinite(force).all() and np.isfinite(torque).all()
    assert world.joint_error[0] < 1e-3
    joints[0].remove()
    assert len(world.joints) == 5
    with pytest.raises(drystone.AccessError, match="no such joint"):
        joints[0].remove()


def test_deformables_have_nodes_and_faces():
    world = drystone.World()
    cloth = world.cloth((1, 1), (4, 4), pinned=["left"], thickness=0.01)
    assert world.settings["strategy"] != "", "a strategy that serves cloth was chosen"
    assert cloth.nodes.shape == (25, 3) and cloth.faces.shape == (32, 3) and cloth.faces.max() == 24
    world.run(0.1)
    held = np.abs(cloth.nodes[:, 0] + 0.5) < 1e-9
    assert held.sum() == 5 and np.allclose(cloth.nodes[held, 1], 0)
    assert cloth.nodes[~held, 1].max() < 0
    assert np.array_equal(world.nodes, cloth.nodes)
    assert world.energy.elastic >= 0


def test_a_belt_and_keyframes_in_the_words_of_scene_files():
    world = drystone.World()
    world.box(size=(10, 1, 2), at=(0, -0.5, 0), fixed=True, surface_velocity=(1, 0, 0), friction=1)
    rider = world.box(at=(0, 0.5, 0), friction=1)
    lift = world.box(at=(0, 5, 9), kind="kinematic", script={"steady": {"velocity": [0, 1, 0]}})
    world.run(2)
    assert world.velocities[rider][0] == pytest.approx(1, abs=1e-2)
    assert world.positions[lift][1] == pytest.approx(7, abs=1e-9)


def test_a_handle_is_a_number_and_has_what_it_names():
    world, box = falling()
    assert isinstance(box, int) and box == 1 and np.arange(5)[box] == 1
    assert world.body("floor") == 0 and world.body(box).name == world.names[1]
    box.position = (0, 7, 0)
    box.velocity = (1, 0, 0)
    box.spin = (0, 2, 0)
    assert world.positions[box].tolist() == [0, 7, 0]
    assert world.velocities[box].tolist() == [1, 0, 0] and box.spin.tolist() == [0, 2, 0]
    box.rotation = (0, 0, 0, 1)
    assert box.pose.shape == (7,) and "Body 1" in repr(box)


def test_a_handle_of_a_removed_body_never_means_another():
    world, box = falling()
    world.remove(box)
    other = world.ball(at=(0, 5, 0))
    assert int(other) == int(box)
    with pytest.raises(drystone.AccessError, match="removed"):
        box.position  # noqa: B018
    with pytest.raises(drystone.AccessError):
        world.remove(box)
    world.step()


def test_arrays_never_change_and_are_made_once_a_step():
    world, box = falling()
    before = world.poses
    assert world.poses is before
    world.step()
    after = world.poses
    assert after is not before and before[box][1] == 3 and after[box][1] < 3
    row = world.positions[box]
    world.step()
    assert row[1] == after[box][1]
    with pytest.raises(ValueError, match="read-only"):
        world.poses[0] = 0


def test_a_loop_that_reads_every_step_uses_the_same_memory():
    world, _ = falling()
    addresses = set()
    for _ in range(50):
        world.step()
        addresses.add(world.poses.__array_interface__["data"][0])
    assert len(addresses) <= 2


def test_arrays_outlive_their_world_and_more_bodies():
    world, box = falling()
    poses = world.poses
    for k in range(300):
        world.ball(0.1, at=(k, 5, 5))
    world.step()
    assert world.poses.shape == (302, 7) and poses.shape == (2, 7)
    del world
    gc.collect()
    assert poses[box].tolist() == [0, 3, 0, 0, 0, 0, 1]


def test_arrays_go_to_others_by_dlpack():
    world, box = falling()
    again = np.from_dlpack(world.poses.copy())
    assert again[box][1] == 3


def test_bulk_writing_moves_what_differs_and_refuses_other_shapes():
    world, box = falling()
    with pytest.raises(drystone.AccessError, match="`floor`: a fixed body does not move"):
        world.velocities = np.tile((1.0, 2.0, 3.0), (2, 1))
    world.velocities = [[0, 0, 0], [1, 2, 3]]
    assert world.velocities.tolist() == [[0, 0, 0], [1, 2, 3]]
    world.spins = [[0, 0, 0], [0, 0, 4]]
    assert world.spins[box].tolist() == [0, 0, 4]
    world.positions = world.positions + (0, 1, 0)
    assert world.positions[:, 1].tolist() == [1, 4]
    world.poses = [[0, 0, 0, 0, 0, 0, 1], [0, 2, 0, 0, 0, 0, 1]]
    assert world.positions[box].tolist() == [0, 2, 0]
    world.set_poses([[5, 5, 5, 0, 0, 0, 1]], [box])
    assert world.positions[box].tolist() == [5, 5, 5]
    with pytest.raises(ValueError, match=r"shape \(2, 7\)"):
        world.poses = np.zeros((3, 7))
    with pytest.raises(drystone.AccessError, match="unit length"):
        world.poses = np.zeros((2, 7))
    with pytest.raises(drystone.AccessError, match="finite"):
        world.velocities = [[0, 0, 0], [np.nan, 0, 0]]


def test_writing_what_is_there_already_changes_no_bit():
    one, two = (drystone.gallery.pyramid() for _ in range(2))
    for _ in range(20):
        one.step()
        two.step()
        two.poses = two.poses
        two.velocities = two.velocities
    assert one.hash == two.hash


def test_forces_act_for_one_step():
    world = drystone.World(gravity=(0, 0, 0))
    ball = world.ball(mass=2)
    ball.push((4, 0, 0))
    world.step()
    assert world.velocities[ball][0] == pytest.approx(4 / 2 / 60)
    world.step()
    assert world.velocities[ball][0] == pytest.approx(4 / 2 / 60)
    world.add_forces([[0, 0, 0]], [[0, 1, 0]])
    world.step()
    assert world.spins[ball][1] > 0
    ball.push((0, 1, 0), at=(1, 0, 0))
    world.step()
    assert world.spins[ball][2] > 0


def test_contacts_carry_the_weight():
    world, box = falling()
    world.run(3)
    contacts = world.contacts
    assert contacts.bodies.tolist() == [[0, 1]] * 4
    assert np.allclose(contacts.normals, (0, 1, 0))
    weight = 9.81 * box.mass * world.dt
    assert contacts.impulses.sum(axis=0)[1] == pytest.approx(weight, rel=1e-2)
    assert contacts.separations.shape == contacts.friction.shape == (4,)


def test_events_tell_when_things_begin_to_touch():
    world, box = falling(events=True)
    told = []
    for _ in range(60):
        world.step()
        told += world.events
    assert told[0].kind == "contact_began" and told[0].b == box and told[0].impulse[1] > 0
    with pytest.raises(drystone.AccessError, match="events=True"):
        falling()[0].events  # noqa: B018


def test_queries_find_what_is_there():
    world, box = falling()
    hit = world.cast_ray((0, 10, 0), (0, -1, 0))
    assert hit.body == box and hit.distance == 6.5 and hit.normal.tolist() == [0, 1, 0]
    assert world.cast_ray((0, 10, 0), (0, -1, 0), ignore=[box]).body == 0
    assert world.cast_ray((0, 10, 0), (0, -1, 0), 6.0) is None
    bodies, distances, _, _ = world.cast_rays([(0, 10, 0), (5, 10, 0)], [(0, -1, 0)] * 2)
    assert bodies.tolist() == [1, 0] and distances.tolist() == [6.5, 10]
    body, point, distance = world.closest_point((0, 5, 0))
    assert body == box and distance == 1.5 and point.tolist() == [0, 3.5, 0]
    assert world.overlapping((-1, 2, -1), (1, 4, 1)) == [box]
    assert world.separation("floor", box)[3] == pytest.approx(2.5)
    with pytest.raises(drystone.AccessError, match="points? somewhere|no length"):
        world.cast_ray((0, 0, 0), (0, 0, 0))


def test_a_copy_a_saved_world_and_a_snapshot_go_on_bit_by_bit(tmp_path):
    world = drystone.gallery.brick_wall()
    world.step(40)
    snapshot = world.snapshot()
    world.save(tmp_path / "wall.dryworld")
    others = [world.copy(), copy.deepcopy(world), pickle.loads(pickle.dumps(world)), drystone.load(tmp_path / "wall.dryworld")]
    world.step(40)
    for other in others:
        assert other.steps == 40
        other.step(40)
        assert other.hash == world.hash
    there = world.hash
    world.restore(snapshot)
    assert world.steps == 40
    world.step(40)
    assert world.hash == there
    with pytest.raises(drystone.SnapshotError, match="no snapshot"):
        world.restore(b"something else")


def test_a_world_is_saved_though_bodies_were_removed_and_others_took_their_place(tmp_path):
    world, box = falling()
    world.run(1)
    world.remove(box)
    world.ball(at=(0, 3, 0))
    world.cone(at=(0, 3, 0))
    world.step(5)
    again = pickle.loads(pickle.dumps(world))
    assert again.hash == world.hash
    again.step(20)
    world.step(20)
    assert again.hash == world.hash


def test_results_do_not_depend_on_threads():
    one, two = drystone.gallery.pyramid_wall(), drystone.gallery.pyramid_wall()
    two.threads = 2
    one.step(30)
    two.step(30)
    assert one.hash == two.hash


def test_a_scene_that_was_built_is_written_and_read_again():
    world, box = falling(friction=0.3)
    world.material("ice", friction=0.02)
    world.material("wood")
    world.pair("ice", "wood", friction=0.05)
    ball = world.ball(0.25, at=(3, 1, 0), material="ice", name="puck")
    world.hinge(box, ball, at=(1, 2, 0))
    text = world.to_toml()
    again = drystone.from_toml(text)
    assert again.names == world.names and again.to_toml() == text
    for either in (world, again):
        either.step(30)
    assert again.hash == world.hash


def test_scenes_models_and_the_gallery_are_loaded(tmp_path):
    (tmp_path / "ball.toml").write_text('dimension = 2\n[[bodies]]\nshape.ball.radius = 1\n')
    assert drystone.load(tmp_path / "ball.toml").dimension == 2
    model = '<mujoco><worldbody><body pos="0 0 1"><freejoint/><geom type="sphere" size=".1"/></body></worldbody></mujoco>'
    (tmp_path / "ball.xml").write_text(model)
    assert len(drystone.load(tmp_path / "ball.xml")) >= 1
    assert "arch-25" in drystone.gallery.names() and "arch_25" in dir(drystone.gallery)
    assert len(drystone.gallery.arch_25()) > 25
    with pytest.raises(drystone.AccessError, match="did you mean `arch-25`"):
        drystone.gallery.arch_52()


def test_settings_are_read_and_changed():
    world, box = falling(solver="newton", tolerance=1e-9)
    assert world.settings["strategy"] == "velocity" and world.dt == pytest.approx(1 / 240)
    world.dt = 1 / 100
    world.change(gravity=(0, 0, 0))
    world.step(100)
    assert world.positions[box][1] == 3 and world.time == pytest.approx(1.0)
    with pytest.raises(drystone.SceneError, match="did you mean"):
        world.change(solver={"name": "newtn"})
    with pytest.raises(drystone.SceneError, match="dt"):
        world.dt = -1
    assert world.dt == pytest.approx(1 / 100)


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda w: w.ball(-1), "radius"),
        (lambda w: w.ball(1, at=(0, 0)), "position"),
        (lambda w: w.ball(1, colour="red"), "unknown key `colour`"),
        (lambda w: w.box(at=(0, np.nan, 0)), "finite"),
        (lambda w: w.box(material="wod"), "no material named `wod`"),
        (lambda w: w.box(name="floor"), "floor"),
        (lambda w: w.add({"bal": {"radius": 1}}), "did you mean `ball`"),
        (lambda w: w.hull([(0, 0, 0), (1, 0, 0)]), "hull|points"),
        (lambda w: w.hinge("floor", "flor"), "flor"),
        (lambda w: w.hinge(0, 0), "two different"),
        (lambda w: w.cloth((1, 1), (0, 4)), "1 or more"),
        (lambda w: w.mesh(file="nowhere.obj"), "nowhere.obj"),
        (lambda w: w.body(7), "numbers 0 to"),
        (lambda w: w.body("nobody"), "no body `nobody`"),
    ],
)
def test_mistakes_are_answered_in_the_engines_words(build, words):
    world, _ = falling()
    before = world.to_toml()
    with pytest.raises((drystone.Error, ValueError), match=words):
        build(world)
    assert world.to_toml() == before, "a refused entry leaves no trace"
    world.step()


def test_an_error_has_its_parts():
    with pytest.raises(drystone.SceneError) as caught:
        drystone.from_toml("dimension = 3\n[[bodies]]\nshape.ball.raduis = 1\n")
    error = caught.value
    assert error.line == 3 and "radius" in error.help and error.field == "bodies[0].shape.ball.raduis"
    assert isinstance(error, ValueError)


def test_a_step_that_fails_leaves_the_world_as_it_was():
    world = drystone.World(strategy="barrier")
    world.box(at=(0, 0, 0))
    world.box(at=(0.5, 0, 0))
    with pytest.raises(drystone.StepError, match="overlap"):
        world.step()
    assert world.steps == 0


def test_one_world_in_two_threads_is_refused_not_broken():
    world = drystone.gallery.dry_stone_wall()
    met = []

    def ask():
        while not done.is_set():
            try:
                world.time  # noqa: B018
            except RuntimeError as error:
                met.append(str(error))

    done = threading.Event()
    other = threading.Thread(target=ask)
    other.start()
    world.step(60)
    done.set()
    other.join()
    assert world.steps == 60
    assert met and "world.copy()" in met[0], "the lock of Python was released"


def test_worlds_leave_nothing_behind():
    import resource

    def make(count):
        for _ in range(count):
            world, box = falling()
            world.step()
            world.poses, world.contacts, box.position  # noqa: B018

    make(200)
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    make(3000)
    gc.collect()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 4000, "kB"


def test_a_step_from_python_costs_little():
    world = drystone.World(2, certify_every=0)
    fewest = min(timeit.repeat(world.step, number=2000, repeat=5)) / 2000
    assert fewest < 10e-6, "an empty world; measured 2 µs on a quiet machine"


def test_the_module_is_the_program():
    run = subprocess.run([sys.executable, "-m", "drystone", "list"], capture_output=True, text=True, check=True)
    assert "arch-25" in run.stdout
    wrong = subprocess.run([sys.executable, "-m", "drystone", "lst"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2 and "list" in wrong.stderr


@pytest.mark.skipif("DRYSTONE_TEST_LONG" not in os.environ, reason="set DRYSTONE_TEST_LONG=1: minutes")
def test_a_hundred_thousand_worlds_leave_nothing_behind():
    import resource

    def make(count):
        for _ in range(count):
            world, box = falling()
            world.step()
            world.poses, world.copy(), box.name  # noqa: B018

    make(2000)
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    make(100_000)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 8000, "kB"
