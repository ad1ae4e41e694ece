"""Steps a second of many ragdolls side by side: `drystone.rollout` and `mujoco.rollout`, one model.

    python bench/python/rollout.py [WORLDS [STEPS]]

Both read the same MJCF text and let every world fall with a velocity of its own; Drystone judges
every step.
"""

import os
import pathlib
import sys
import tempfile
import time

import numpy as np

import drystone

LIMB = '<geom type="capsule" fromto="0 0 0 0 0 {0}" size="{1}"/>'


def limb(name, at, parts):
    """A chain of capsules on hinges: from each to the next its length and radius."""
    text, end = "", ""
    place = at
    for k, (length, radius) in enumerate(parts):
        axis = "1 0 0" if k else "0 1 0"
        text += f'<body name="{name} {k}" pos="{place}"><joint type="hinge" axis="{axis}" range="-60 60" limited="true" damping="0.5"/>'
        text += LIMB.format(-length, radius)
        place, end = f"0 0 {-length - 2 * radius - 0.01}", end + "</body>"
    return text + end


MODEL = f"""
<mujoco model="ragdoll">
  <option timestep="0.005" gravity="0 0 -9.81"/>
  <worldbody>
    <geom name="floor" type="plane" size="20 20 1" friction="0.8"/>
    <body name="torso" pos="0 0 1.5"><freejoint/>
      <geom type="capsule" fromto="0 -0.1 0 0 0.1 0" size="0.09"/>
      <geom type="sphere" pos="0 0 0.28" size="0.1"/>
      {limb("left leg", "0 0.1 -0.14", [(0.34, 0.05), (0.3, 0.045)])}
      {limb("right leg", "0 -0.1 -0.14", [(0.34, 0.05), (0.3, 0.045)])}
      {limb("left arm", "0 0.26 0.05", [(0.25, 0.035), (0.22, 0.03)])}
      {limb("right arm", "0 -0.26 0.05", [(0.25, 0.035), (0.22, 0.03)])}
    </body>
  </worldbody>
</mujoco>
"""


def starts(count):
    """A velocity of the torso for each world."""
    return np.random.default_rng(1).normal(0.0, 1.0, (count, 3))


def drystone_rollout(count, steps):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "ragdoll.xml")
        path.write_text(MODEL)
        world = drystone.load(str(path))
    world.dt = 0.005
    moving = np.isfinite(world.masses)

    def vary(copy, k):
        motions = copy.motions.copy()
        motions[moving, :3] = starts(count)[k]
        copy.set_motions(motions)

    worlds = drystone.copies(world, count, vary)
    begun = clock()
    made = drystone.rollout(worlds, steps, every=10, in_place=True)
    return clock() - begun, float(np.median(made.residuals[:, -1]))


def mujoco_rollout(count, steps):
    import mujoco
    from mujoco import rollout

    model = mujoco.MjModel.from_xml_string(MODEL)
    threads = os.cpu_count()
    datas = [mujoco.MjData(model) for _ in range(threads)]
    size = mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    states = np.zeros((count, size))
    for k, velocity in enumerate(starts(count)):
        data = mujoco.MjData(model)
        data.qvel[:3] = velocity
        mujoco.mj_forward(model, data)
        mujoco.mj_getState(model, data, states[k], mujoco.mjtState.mjSTATE_FULLPHYSICS)
    begun = clock()
    with rollout.Rollout(nthread=threads) as runner:
        runner.rollout(model, datas, states, nstep=steps)
    return clock() - begun


def clock():
    """Wall-clock and processor time, s: others may keep the machine busy."""
    return np.array([time.perf_counter(), time.process_time()])


def told(name, count, steps, spent):
    wall, processor = count * steps / spent
    return f"{name:9}{count:5} worlds: {wall:8.0f} steps/s, {processor:8.0f} a second of processor time"


def main():
    counts = [int(sys.argv[1])] if len(sys.argv) > 1 else [64, 1024]
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 400
    for count in counts:
        spent, residual = drystone_rollout(count, steps)
        print(told("drystone", count, steps, spent) + f", median residual at the end {residual:.2g} m/s")
        try:
            print(told("mujoco", count, steps, mujoco_rollout(count, steps)))
        except ImportError:
            print("mujoco is not installed")


if __name__ == "__main__":
    main()
