"""Many worlds at once."""

import numpy as np
import pytest

import drystone


def throw():
    world = drystone.World()
    world.floor()
    world.ball(0.1, at=(0, 1, 0), restitution=0.5)
    return world


def test_a_rollout_is_what_each_world_does_alone_on_any_threads():
    def vary(world, k):
        world.velocities = [[0, 0, 0], [k, 2, 0]]

    worlds = drystone.copies(throw(), 7, vary)
    one = drystone.rollout(worlds, 60, every=3, threads=1)
    two = drystone.rollout(worlds, 60, every=3, threads=4)
    assert one.poses.shape == (7, 20, 2, 7) and one.motions.shape == (7, 20, 2, 6)
    assert np.array_equal(one.poses, two.poses) and np.array_equal(one.residuals, two.residuals)
    assert one.times[0] == pytest.approx(3 / 60) and worlds[0].steps == 0
    alone = worlds[5].copy()
    alone.step(60)
    assert np.array_equal(one.poses[5, -1], alone.poses)
    assert np.array_equal(one.velocities[5, -1], alone.velocities)


def test_worlds_may_differ_in_mass_and_friction():
    def slide(friction):
        world = drystone.World(friction=friction, strategy="velocity")
        world.floor()
        world.box(0.2, at=(0, 0.1, 0), velocity=(1, 0, 0))
        return world

    frictions = np.array([0.2, 0.4, 0.8])
    made = drystone.rollout([slide(mu) for mu in frictions], 240)
    way = made.positions[:, -1, 1, 0]
    # Half a step at the first speed is what a step of this length can't tell.
    assert np.allclose(way, 1 / (2 * 9.81 * frictions), atol=1 / 480 + 1e-4)


def test_controls_are_targets_of_motors():
    world = drystone.World(gravity=(0, 0, 0))
    hub = world.box(fixed=True)
    arm = world.box((2, 0.2, 0.2), at=(0, 0, 2))
    hinge = world.hinge(hub, arm, at=(0, 0, 2), motor={"speed": 0.0, "max_force": 1e6})
    targets = np.array([[-1.0], [0.0], [2.0]])
    controls = np.repeat(targets[:, None], 30, axis=1)
    made = drystone.rollout([world] * 3, 30, controls=controls, joints=[hinge])
    assert np.allclose(made.motions[:, -1, arm, 5], targets[:, 0], atol=1e-3)
    with pytest.raises(ValueError, match=r"\(3, 30, 1\)"):
        drystone.rollout([world] * 3, 30, controls=controls[:, :20], joints=[hinge])
    free = world.ball_joint(hub, arm, at=(0, 0, 1), collides=True)
    with pytest.raises(drystone.StepError, match="no motor or servo"):
        drystone.rollout([world], 30, controls=controls[:1], joints=[free])


def test_a_world_that_fails_is_named_and_others_go_on():
    def world(gap):
        world = drystone.World(strategy="barrier")
        world.box(at=(0, 0, 0))
        world.box(at=(1 + gap, 0, 0))
        return world

    worlds = [world(0.5), world(-0.5)]
    with pytest.raises(drystone.StepError, match="world 1: .*overlap"):
        drystone.rollout(worlds, 5)
    made = drystone.rollout(worlds, 5, keep_errors=True)
    assert made.errors[0] is None and "overlap" in made.errors[1]
    assert np.isfinite(made.poses[0]).all() and np.isnan(made.poses[1]).all()


def test_worlds_that_differ_in_number_are_refused():
    other = throw()
    other.ball(at=(9, 9, 9))
    with pytest.raises(ValueError, match="same dimension and number"):
        drystone.rollout([throw(), other], 1)
    with pytest.raises(ValueError, match="one world at least"):
        drystone.rollout([], 1)


def test_gradients_of_smooth_motion_are_right_and_kinks_are_named():
    def make(p):
        world = drystone.World()
        world.ball(0.1, at=(0, 0, 0), velocity=(p[0], p[1], 0))
        return world

    def way(made):
        return made.positions[:, -1, 0, 0] * made.positions[:, -1, 0, 1]

    loss, slope, doubt = drystone.gradient(make, [2.0, 3.0], way, 60)
    height = 3.0 - 9.81 / 2
    assert loss == pytest.approx(2 * height) and np.allclose(slope, [height, 2.0], rtol=1e-6) and len(doubt) == 0

    def fall(p):
        world = drystone.World()
        world.floor()
        world.box((1, 1, 1), at=(0, 0.5 + p[0], 0), restitution=0)
        return world

    _, _, doubt = drystone.gradient(fall, [0.0], lambda made: np.abs(made.positions[:, -1, 1, 1] - 0.5), 1, step=1e-2)
    assert doubt.tolist() == [0]


def test_gymnasiums_vector_environment():
    gymnasium = pytest.importorskip("gymnasium")
    from drystone.gym import VectorEnv

    world = drystone.World()
    rail = world.box((10, 0.1, 0.1), fixed=True, groups=[1], meets=[2])
    cart = world.box(0.5, at=(0, 0, 0), groups=[3], meets=[4])
    slider = world.slider(rail, cart, motor={"speed": 0.0, "max_force": 1e5})

    def vary(world, rng):
        row = world.positions.copy()
        row[cart, 0] = rng.uniform(-1, 1)
        world.positions = row

    env = VectorEnv(
        world, 4, joints=[slider], max_steps=5, vary=vary,
        reward=lambda state, actions: -np.abs(state.positions[:, -1, cart, 0]),
        terminated=lambda state: state.positions[:, -1, cart, 0] > 1.2,
    )
    first, _ = env.reset(seed=3)
    again, _ = env.reset(seed=3)
    assert np.array_equal(first, again) and first.shape == (4, 26) and env.observation_space.contains(first)
    assert len(set(first[:, 7].tolist())) == 4, "each world begins elsewhere"
    truncations = 0
    for _ in range(12):
        seen, rewards, ended, truncated, _ = env.step(np.ones((4, 1)))
        truncations += truncated.sum()
        assert rewards.shape == (4,) and seen.shape == (4, 26)
    assert truncations > 0
    assert isinstance(env, gymnasium.vector.VectorEnv)
