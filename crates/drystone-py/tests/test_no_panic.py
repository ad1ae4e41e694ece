"""Whatever a program does, it gets an exception of its own kind, never a panic of the engine."""

import random

import numpy as np
import pytest

import drystone

VALUES = [
    0, 1, -1, 0.5, 1e-300, 1e300, float("inf"), float("nan"), None, "", "floor", "ball", [], [1], [0, 1, 0], (1, 2), [1, 2, 3, 4],
    [float("nan")] * 3, [1e308] * 3, {}, {"ball": {"radius": 1}}, {"axis": [0, 0, 0], "angle": 3}, True, np.zeros(3), np.zeros((2, 3)), -7, 10**30,
]
BODY = ["at", "rotation", "velocity", "spin", "mass", "density", "friction", "restitution", "material", "groups", "script", "repeat", "kind", "name", "sensor"]
JOINT = ["at", "axis", "limits", "motor", "servo", "length", "stiffness", "damping", "ratio", "break_force", "collides", "name"]
FINE = (drystone.Error, ValueError, TypeError, LookupError, OverflowError)


def some(rng, names):
    return {name: rng.choice(VALUES) for name in rng.sample(names, rng.randint(0, 2))}


def one(rng, world):
    v = lambda: rng.choice(VALUES)  # noqa: E731
    calls = [
        lambda: world.box(v(), **some(rng, BODY)), lambda: world.ball(v(), **some(rng, BODY)),
        lambda: world.capsule(v(), v(), **some(rng, BODY)), lambda: world.hull(v(), **some(rng, BODY)),
        lambda: world.mesh(v(), v(), **some(rng, BODY)), lambda: world.add(v(), **some(rng, BODY)),
        lambda: world.height_field(v(), v()), lambda: world.compound(v()), lambda: world.floor(v()),
        lambda: world.joint(rng.choice(["hinge", "rod", "gear", "axes", "fixed", "spring"]), v(), v(), **some(rng, JOINT)),
        lambda: world.cloth(v(), v()), lambda: world.rope(v(), v(), v()), lambda: world.soft_mesh(v(), triangles=v()),
        lambda: world.remove(v()), lambda: world.body(v()), lambda: world.set_poses(v()), lambda: world.set_motions(v(), v()),
        lambda: setattr(world, "velocities", v()), lambda: setattr(world, "poses", v()), lambda: setattr(world, "rotations", v()),
        lambda: world.add_forces(v(), v()), lambda: world.change(**{rng.choice(["dt", "gravity", "solver", "strategy", "contact"]): v()}),
        lambda: world.cast_ray(v(), v(), v()), lambda: world.closest_point(v(), v()), lambda: world.overlapping(v(), v()),
        lambda: world.separation(v(), v()), lambda: world.restore(v()), lambda: world.material(v(), friction=v()), lambda: world.pair(v(), v()),
        lambda: world.step(), lambda: world.contacts, lambda: world.certificate, lambda: world.copy().step(2), lambda: world.run(v()) if v() == 0.5 else None,
        lambda: drystone.rollout([world], 1, controls=v()), lambda: drystone.residual(world.contact_problem(), v()),
        lambda: drystone.World._of("bytes", world.save_bytes()).hash, lambda: world.to_toml(),
        lambda: world.joints[0].remove(), lambda: world.deformables[0].nodes,
    ]
    rng.choice(calls)()


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("dimension", [2, 3])
def test_random_programs_end_in_exceptions_of_their_own_kind(seed, dimension):
    rng = random.Random(seed)
    world = drystone.World(dimension)
    world.floor()
    world.ball(0.3, at=(0, 2, 0)[:dimension], name="ball")
    for _ in range(150):
        try:
            one(rng, world)
        except FINE:
            pass
    try:
        world.step()
    except drystone.StepError:
        pass
    assert np.isfinite(world.poses).all()
