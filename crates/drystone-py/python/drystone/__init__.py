"""Contact simulation with a certificate: particles, rigid bodies and deformables, in 2D and 3D.

>>> import drystone
>>> world = drystone.World()
>>> floor = world.floor()
>>> box = world.box(size=1, at=(0, 3, 0))
>>> world.run(2.0)
>>> round(float(world.poses[box][1]), 3)
0.5
"""

from __future__ import annotations

from . import gallery
from ._native import SOLVERS, STRATEGIES, __version__, schema
from .certificate import Certificate
from .errors import AccessError, Error, SceneError, SnapshotError, StepError
from .handles import Body, Deformable, Joint
from .problem import Problem, Residual, Solution, residual, solve
from .rollout import Rollout, copies, gradient, rollout
from .show import Run, plot, record
from .sweep import measures, sweep
from .world import Contacts, Energy, Event, RayHit, World, from_toml, load

__all__ = [
    "SOLVERS",
    "STRATEGIES",
    "AccessError",
    "Body",
    "Certificate",
    "Contacts",
    "Deformable",
    "Energy",
    "Error",
    "Event",
    "Joint",
    "Problem",
    "RayHit",
    "Residual",
    "Rollout",
    "Run",
    "SceneError",
    "SnapshotError",
    "Solution",
    "StepError",
    "World",
    "__version__",
    "copies",
    "from_toml",
    "gallery",
    "gradient",
    "load",
    "measures",
    "plot",
    "record",
    "residual",
    "rollout",
    "schema",
    "solve",
    "sweep",
]
