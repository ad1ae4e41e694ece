"""What MuJoCo makes of the models beside this file: `python expected.py > expected.txt`.

A line for each body that moves: file, name, mass in kg of it and what is fixed to it, its position
at the start in m (z up), and the trace of its inertia about its centre in kg m^2.
"""

import pathlib
import sys

import mujoco
import numpy as np

folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
folder = folder if folder.is_dir() else folder.parent
for path in sorted(folder.glob("*.xml")):
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    groups = {}
    for body in range(1, model.nbody):
        groups.setdefault(model.body_weldid[body], []).append(body)
    groups.pop(0, None)
    for first, bodies in sorted(groups.items()):
        mass = sum(model.body_mass[b] for b in bodies)
        center = sum(model.body_mass[b] * data.xipos[b] for b in bodies) / mass
        trace = 0.0
        for b in bodies:
            away = data.xipos[b] - center
            trace += model.body_inertia[b].sum() + 2 * model.body_mass[b] * away @ away
        x, y, z = data.xpos[first] + 0.0
        name = model.body(first).name
        print(path.name, name, *(f"{v:.12g}" for v in (mass, x, y, z, trace)))
