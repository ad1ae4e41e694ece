"""Known outcomes, as engines come out of the box: `drystone`, `mujoco`, `pybullet` from Python.

    python bench/python/truth.py

Each scene is built by each engine with its own defaults and the same 1/240 s:

* flight: how far a ball is from −g t²/2 after 2 s;
* creep: how far a box of 1 m slides in 5 s on a slope that friction holds (tan 0.45, μ 0.5);
* tower: how far the top of ten boxes of 1 m has moved after 5 s, and steps a second of processor time.
"""

import time

import numpy as np

H, SLOPE = 1 / 240, np.arctan(0.45)
TILT = (9.81 * np.sin(SLOPE), -9.81 * np.cos(SLOPE))


class Drystone:
    name = "drystone"

    def __init__(self, boxes, gravity):
        import drystone

        self.world = drystone.World(dt=H, gravity=(*gravity, 0), friction=0.5)
        if boxes:
            self.world.floor()
            self.moved = [self.world.box(1.0, at=(0, 0.5 + k, 0)) for k in range(boxes)]
        else:
            self.moved = [self.world.ball(0.5)]

    def run(self, steps):
        self.world.step(steps)
        return self.world.positions[self.moved[-1]]


class Mujoco:
    name = "mujoco"

    def __init__(self, boxes, gravity):
        import mujoco

        self.step = mujoco.mj_step
        shape = '<geom type="box" size=".5 .5 .5" friction=".5"/>' if boxes else '<geom type="sphere" size=".5"/>'
        heights = [0.5 + k for k in range(boxes)] if boxes else [0.0]
        bodies = "".join(f'<body pos="0 {y} 0"><freejoint/>{shape}</body>' for y in heights)
        floor = '<geom type="plane" size="9 9 9" euler="-90 0 0" friction=".5"/>' if boxes else ""
        self.model = mujoco.MjModel.from_xml_string(
            f'<mujoco><option timestep="{H}" gravity="{gravity[0]} {gravity[1]} 0"/><worldbody>{floor}{bodies}</worldbody></mujoco>'
        )
        self.data = mujoco.MjData(self.model)

    def run(self, steps):
        for _ in range(steps):
            self.step(self.model, self.data)
        return self.data.qpos[-7:-4].copy()


class Pybullet:
    name = "pybullet"

    def __init__(self, boxes, gravity):
        import pybullet as p

        self.p = p
        p.connect(p.DIRECT)
        p.resetSimulation()
        p.setTimeStep(H)
        p.setGravity(*gravity, 0)
        if boxes:
            plane = p.createMultiBody(0, p.createCollisionShape(p.GEOM_PLANE, planeNormal=[0, 1, 0]))
            p.changeDynamics(plane, -1, lateralFriction=np.sqrt(0.5))
        shape = p.createCollisionShape(p.GEOM_BOX, halfExtents=[0.5] * 3) if boxes else p.createCollisionShape(p.GEOM_SPHERE, radius=0.5)
        heights = [0.5 + k for k in range(boxes)] if boxes else [0.0]
        self.moved = [p.createMultiBody(2600, shape, basePosition=[0, y, 0]) for y in heights]
        for body in self.moved:
            # Bullet multiplies the two coefficients.
            p.changeDynamics(body, -1, lateralFriction=np.sqrt(0.5))

    def run(self, steps):
        for _ in range(steps):
            self.p.stepSimulation()
        return np.array(self.p.getBasePositionAndOrientation(self.moved[-1])[0])


def main():
    print(f"{'':10}{'flight':>12}{'creep':>12}{'tower':>12}{'tower, steps/s':>16}")
    for engine in (Drystone, Mujoco, Pybullet):
        try:
            flight = abs(engine(0, (0, -9.81)).run(480)[1] + 9.81 * 2)
            creep = abs(engine(1, TILT).run(1200)[0])
            tower = engine(10, (0, -9.81))
            begun = time.process_time()
            top = tower.run(1200)
            speed = 1200 / (time.process_time() - begun)
        except ImportError:
            print(f"{engine.name:10} is not installed")
            continue
        moved = np.linalg.norm(top - (0, 9.5, 0))
        print(f"{engine.name:10}{1e3 * flight:9.3g} mm{1e3 * creep:9.3g} mm{1e3 * moved:9.3g} mm{speed:16.0f}")


if __name__ == "__main__":
    main()
