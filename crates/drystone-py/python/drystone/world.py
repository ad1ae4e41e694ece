"""The world: built in a few words, stepped by the engine, read as arrays.

Lengths are in m, times in s, masses in kg, forces in N; rotations that are *given* to builders are
in degrees (as in scene files), angles that are *read* in rad. The y axis is up.
"""

from __future__ import annotations

import html
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Union

import numpy as np
from numpy.typing import ArrayLike

from . import _native
from ._types import Array, Ints, Vector
from .certificate import Certificate
from .handles import Body, Deformable, Joint
from .problem import Problem, contact_problem
from .show import Run, record

#: A body by its handle, its number or its name.
BodyLike = Union[int, str]
_SAVED = b"DRYWORLD"


class Contacts(NamedTuple):
    """Contacts of the last step, one in each row."""

    #: Bodies A and B.
    bodies: Ints
    #: Where, m.
    points: Array
    #: Unit vectors from A to B.
    normals: Array
    #: Impulses on B in the step, world axes, N·s.
    impulses: Array
    #: Distances of the surfaces, negative where they overlap, m.
    separations: Array
    #: Coulomb's μ.
    friction: Array


class Energy(NamedTuple):
    """Energy of a world, J."""

    #: Of motion.
    kinetic: float
    #: In gravity, 0 at the origin.
    potential: float
    #: In deformables, 0 at rest.
    elastic: float

    @property
    def total(self) -> float:
        """All of it."""
        return self.kinetic + self.potential + self.elastic


class Event(NamedTuple):
    """Something that happened in the last step."""

    #: "contact_began", "contact_ended", "sensor_entered", "sensor_left" or "joint_broke".
    kind: str
    #: Body A, or the sensor.
    a: Body
    #: Body B, or what the sensor notices.
    b: Body
    #: The world point that carries most, m, where a contact began.
    point: Array | None = None
    #: Impulse of the whole contact on B, N·s, where a contact began.
    impulse: Array | None = None
    #: Place of the joint that broke.
    joint: int | None = None


class RayHit(NamedTuple):
    """What a ray hits."""

    body: Body
    #: From the ray's origin, m.
    distance: float
    point: Array
    #: Unit vector out of the body.
    normal: Array


class World(_native.World):
    """Bodies that move, touch and rest.

    Arrays that are read (``poses``, ``velocities``, …) are those of the engine at that moment: they
    are not writeable and never change, so ``before = world.poses`` is a copy for nothing. Assign to
    them to change the world: ``world.velocities = v``.
    """

    def __new__(
        cls,
        dimension: int = 3,
        *,
        dt: float | None = None,
        gravity: Vector | None = None,
        strategy: str | None = None,
        solver: str | None = None,
        iterations: int | None = None,
        tolerance: float | None = None,
        friction: float | None = None,
        restitution: float | None = None,
        density: float | None = None,
        name: str = "world",
        threads: int = 1,
        certify_every: int = 1,
        events: bool = False,
        **settings: Any,
    ) -> World:
        """An empty world in the plane (2) or in space (3).

        ``dt`` is the length of a step (s; 1/60 by default), ``gravity`` in m/s² (9.81 down y),
        ``strategy`` one of ``drystone.STRATEGIES`` ("realtime" by default), ``solver`` one of
        ``drystone.SOLVERS`` (which makes the strategy "velocity"). ``friction``, ``restitution``
        and ``density`` (kg/m³) are those of bodies that name none. All other keys are those of
        scene files: ``realtime={"substeps": 4}``, ``contact={"slop": 1e-4}``.
        """
        scene = _entry(
            name=name,
            dimension=dimension,
            dt=dt,
            gravity=gravity,
            strategy=strategy,
            solver=_entry(name=solver, iterations=iterations, tolerance=tolerance),
            defaults=_entry(friction=friction, restitution=restitution, density=density),
            **settings,
        )
        world = cls._of("json", _json(scene))
        world.threads = threads
        world.certify_every = certify_every
        world.record_events = events
        return world

    def __init__(self, *_args: Any, **_settings: Any) -> None:
        pass

    @classmethod
    def _of(cls, what: str, source: object) -> World:
        world: World = _native.World.__new__(cls, what, source)
        return world

    # Building: bodies.

    def add(self, shape: Mapping[str, Any], *, at: Vector | None = None, fixed: bool = False, **body: Any) -> Any:
        """Adds a body in the words of scene files: ``add({"ball": {"radius": 0.5}}, at=(0, 1, 0))``.

        ``body`` may have ``name``, ``rotation`` (an angle in degrees in the plane; in space
        ``{"axis": …, "angle": …}``, ``{"euler": …}`` or a quaternion), ``velocity``, ``spin``,
        ``mass`` (kg), ``density`` (kg/m³), ``material``, ``friction``, ``restitution``,
        ``linear_damping``, ``groups``, ``sensor``, ``script``, … A body with ``repeat`` gives a
        list of handles, any other one handle.
        """
        if fixed:
            body.setdefault("kind", "fixed")
        entry = _entry(shape=shape, position=at, **body)
        keys = self.add_bodies(_json({"dimension": self.dimension, "bodies": [entry]}))
        bodies = [Body(self, key) for key in keys]
        return bodies if "repeat" in entry else bodies[0]

    def floor(self, height: float = 0.0, *, normal: Vector | None = None, **body: Any) -> Body:
        """A fixed half-space below a height (m), or against a normal."""
        up = [0.0, 1.0] if self.dimension == 2 else [0.0, 1.0, 0.0]
        body.setdefault("at", [height * x for x in up])
        body.setdefault("name", _free("floor", self.names))
        return self._one({"half_space": {"normal": up if normal is None else normal}}, kind="fixed", **body)

    def box(self, size: float | Vector = 1.0, *, at: Vector | None = None, rounding: float | None = None, **body: Any) -> Body:
        """A box; ``size`` is its full edges in m, or that of a cube."""
        edges = [size] * self.dimension if isinstance(size, (int, float)) else size
        return self._one({"box": _entry(size=edges, rounding=rounding)}, at=at, **body)

    def ball(self, radius: float = 0.5, *, at: Vector | None = None, **body: Any) -> Body:
        """A ball (in the plane a disk) of a radius in m."""
        return self._one({"ball": {"radius": radius}}, at=at, **body)

    def capsule(self, length: float = 1.0, radius: float = 0.25, *, at: Vector | None = None, **body: Any) -> Body:
        """A cylinder along y with half balls on its ends; ``length`` between their centres, m."""
        return self._one({"capsule": {"length": length, "radius": radius}}, at=at, **body)

    def cylinder(self, height: float = 1.0, radius: float = 0.5, *, at: Vector | None = None, **body: Any) -> Body:
        """A cylinder along y, m."""
        return self._one({"cylinder": {"height": height, "radius": radius}}, at=at, **body)

    def cone(self, height: float = 1.0, radius: float = 0.5, *, at: Vector | None = None, **body: Any) -> Body:
        """A cone along y, its tip up, m."""
        return self._one({"cone": {"height": height, "radius": radius}}, at=at, **body)

    def hull(self, points: ArrayLike, *, at: Vector | None = None, **body: Any) -> Body:
        """The convex hull of points (m) in the body's own axes."""
        return self._one({"hull": {"points": np.asarray(points, dtype=float)}}, at=at, **body)

    def mesh(
        self,
        points: ArrayLike | None = None,
        triangles: ArrayLike | None = None,
        *,
        file: str | os.PathLike[str] | None = None,
        at: Vector | None = None,
        **body: Any,
    ) -> Body:
        """A surface of triangles, from arrays or an OBJ file; fixed unless it says otherwise.

        A closed surface that moves is taken apart into convex pieces: ``decompose={}``.
        """
        shape = _entry(file=None if file is None else os.fspath(file), decompose=body.pop("decompose", None))
        if points is not None:
            shape["points"] = np.asarray(points, dtype=float)
        if triangles is not None:
            shape["triangles"] = np.asarray(triangles, dtype=int)
        if "decompose" not in shape:
            body.setdefault("kind", "fixed")
        return self._one({"mesh": shape}, at=at, **body)

    def height_field(self, size: Vector, heights: ArrayLike, *, at: Vector | None = None, **body: Any) -> Body:
        """Fixed ground of an extent (m) with heights (m), row by row along z."""
        rows = np.atleast_2d(np.asarray(heights, dtype=float))
        return self._one({"height_field": {"size": size, "heights": rows}}, at=at, kind="fixed", **body)

    def compound(self, parts: Sequence[Mapping[str, Any]], *, at: Vector | None = None, **body: Any) -> Body:
        """Several solids as one: ``[{"shape": {"ball": {"radius": 1}}, "position": (0, 1, 0)}, …]``."""
        return self._one({"compound": {"parts": parts}}, at=at, **body)

    def _one(self, shape: Mapping[str, Any], **body: Any) -> Body:
        made: Body = self.add(shape, **body)
        return made

    def remove(self, what: BodyLike | Joint) -> None:
        """Removes a body with its joints, or a joint."""
        if isinstance(what, Joint):
            what.remove()
        else:
            self.remove_body(what)

    def body(self, which: BodyLike) -> Body:
        """The handle of a body by its number or name."""
        return Body(self, self.body_key(which))

    # Building: joints.

    def joint(self, kind: str, a: BodyLike, b: BodyLike, **joint: Any) -> Joint:
        """Ties two bodies together, in the words of scene files.

        ``kind`` is "fixed", "ball", "hinge", "slider", "universal", "rod", "rope", "spring",
        "gear" or "axes"; ``joint`` may have ``at`` (m), ``axis``, ``limits`` (degrees or m),
        ``motor``, ``servo``, ``length``, ``stiffness``, ``damping``, ``ratio``, ``frames``,
        ``break_force`` (N), ``break_torque`` (N·m), ``collides``, ``name``.
        """
        names = self.names
        ends = {"a": names[self.body_key(a).place], "b": names[self.body_key(b).place]}
        entry = _entry(kind=kind, **ends, **joint)
        keys = self.add_joints(_json({"dimension": self.dimension, "joints": [entry]}))
        return Joint(self, keys[0])

    def weld(self, a: BodyLike, b: BodyLike, **joint: Any) -> Joint:
        """Holds two bodies as they are to each other."""
        return self.joint("fixed", a, b, **joint)

    def ball_joint(self, a: BodyLike, b: BodyLike, at: Vector | None = None, **joint: Any) -> Joint:
        """Holds a point (m, world) of each together; in the plane a pin."""
        return self.joint("ball", a, b, at=at, **joint)

    def hinge(self, a: BodyLike, b: BodyLike, at: Vector | None = None, axis: Vector | None = None, **joint: Any) -> Joint:
        """Lets B turn about an axis through a point only (z if left out; none in the plane)."""
        return self.joint("hinge", a, b, at=at, axis=axis, **joint)

    def slider(self, a: BodyLike, b: BodyLike, axis: Vector | None = None, at: Vector | None = None, **joint: Any) -> Joint:
        """Lets B slide along an axis only (x if left out)."""
        return self.joint("slider", a, b, at=at, axis=axis, **joint)

    def rod(self, a: BodyLike, b: BodyLike, length: float | None = None, **joint: Any) -> Joint:
        """Keeps the origins of two bodies at a distance, m."""
        return self.joint("rod", a, b, length=length, **joint)

    def rope_joint(self, a: BodyLike, b: BodyLike, length: float | None = None, **joint: Any) -> Joint:
        """Keeps the origins of two bodies within a distance, m."""
        return self.joint("rope", a, b, length=length, **joint)

    def spring(
        self, a: BodyLike, b: BodyLike, stiffness: float, damping: float = 0.0, length: float | None = None, **joint: Any
    ) -> Joint:
        """Pulls two origins to a distance (m) with a stiffness (N/m) and damping (N·s/m)."""
        return self.joint("spring", a, b, stiffness=stiffness, damping=damping, length=length, **joint)

    @property
    def joints(self) -> list[Joint]:
        """All joints."""
        return [Joint(self, key) for key in self.joint_keys()]

    # Building: deformables and materials.

    def deformable(self, shape: Mapping[str, Any], *, at: Vector | None = None, **soft: Any) -> Deformable:
        """Adds a deformable in the words of scene files.

        ``soft`` may have ``young`` (Pa), ``poisson``, ``density`` (kg/m³), ``thickness`` (m),
        ``damping`` (s), ``bending``, ``pinned`` (["left", …]), ``pinned_nodes``, ``attached``,
        ``material``, ``velocity``, ``name``.
        """
        entry = _entry(shape=shape, position=at, **soft)
        places = self.add_deformables(_json({"dimension": self.dimension, "deformables": [entry]}))
        return Deformable(self, places[0])

    def rope(self, start: Vector, end: Vector, segments: int = 20, **soft: Any) -> Deformable:
        """A straight rope from a point to another, m."""
        return self.deformable({"rope": {"from": start, "to": end, "segments": segments}}, **soft)

    def cloth(self, size: Vector = (1.0, 1.0), cells: Sequence[int] = (10, 10), **soft: Any) -> Deformable:
        """A rectangular cloth in the plane y = 0: extent along x and z (m), squares along each."""
        return self.deformable({"cloth": {"size": size, "cells": cells}}, **soft)

    def jelly(self, size: Vector, cells: Sequence[int], **soft: Any) -> Deformable:
        """A soft box: edges (m), and small boxes along each."""
        return self.deformable({"block": {"size": size, "cells": cells}}, **soft)

    def soft_mesh(self, points: ArrayLike, *, at: Vector | None = None, **cells: Any) -> Deformable:
        """A deformable of points (m) and ``segments``, ``triangles`` or ``tetrahedra``."""
        kinds = ("segments", "triangles", "tetrahedra")
        mesh = {kind: np.asarray(cells.pop(kind), dtype=int) for kind in kinds if kind in cells}
        return self.deformable({"mesh": {"points": np.asarray(points, dtype=float), **mesh}}, at=at, **cells)

    @property
    def nodes(self) -> Array:
        """Where the nodes of all deformables are, m."""
        bodies = [place for soft in self.deformables for place in soft.bodies]
        rows: Array = self.positions[np.array(bodies, dtype=np.int64)]
        return rows

    @property
    def deformables(self) -> list[Deformable]:
        """All deformables."""
        return [Deformable(self, place) for place in self.deformable_places()]

    def material(self, name: str, **material: Any) -> str:
        """Adds a material: ``friction``, ``restitution``, ``density``, ``friction_rule``, …"""
        self.add_materials(_json({"dimension": self.dimension, "materials": [_entry(name=name, **material)]}))
        return name

    def pair(self, a: str, b: str, *, friction: float | None = None, restitution: float | None = None) -> None:
        """Sets the coefficients of two materials where they meet."""
        entry = _entry(between=[a, b], friction=friction, restitution=restitution)
        self.add_materials(_json({"dimension": self.dimension, "materials": [], "pairs": [entry]}))

    # Stepping.

    def run(self, seconds: float) -> None:
        """Makes the steps of so many seconds. Ctrl-C ends it between two steps."""
        count = round(seconds / self.dt)
        if count < 0:
            raise ValueError(f"seconds must be 0 or more, not {seconds}")
        self.step(count)

    def record(self, seconds: float) -> Run:
        """Makes the steps of so many seconds and gives the run, which plays itself in a notebook
        and in a browser (``run.show()``), and can be plotted (``drystone.plot(run)``)."""
        return record(self, seconds)

    def show(self, seconds: float = 5.0) -> None:
        """Plays the coming seconds of a copy in the browser; the world stays where it is."""
        self.copy().record(seconds).show()

    def _repr_html_(self) -> str:
        return f"<code>{html.escape(repr(self))}</code>{self.copy().record(0)._repr_html_()}"

    @property
    def certificate(self) -> Certificate | None:
        """What the judge says of the last step; nothing before the first."""
        return Certificate.of_json(self.certificate_json())

    @property
    def settings(self) -> dict[str, Any]:
        """How the world is stepped, in the words of scene files."""
        settings: dict[str, Any] = json.loads(self.settings_json())
        return settings

    def change(self, **settings: Any) -> None:
        """Changes how the world is stepped: ``change(dt=1/240, solver={"name": "newton"})``."""
        self.change_settings(_json({**settings, "dimension": self.dimension}))

    @property
    def dt(self) -> float:
        """Length of a step, s."""
        return self.step_length

    @dt.setter
    def dt(self, dt: float) -> None:
        self.change(dt=dt)

    # Arrays.

    @property
    def positions(self) -> Array:
        """Where the bodies' origins are, a row each, m."""
        return self.poses[:, : self.dimension]

    @positions.setter
    def positions(self, rows: ArrayLike) -> None:
        poses = self.poses.copy()
        poses[:, : self.dimension] = rows
        self.set_poses(poses)

    @property
    def rotations(self) -> Array:
        """Quaternions x, y, z, w, a row each; in the plane angles, rad."""
        rows: Array = self.poses[:, 3:] if self.dimension == 3 else self.poses[:, 2]
        return rows

    @rotations.setter
    def rotations(self, rows: ArrayLike) -> None:
        poses = self.poses.copy()
        poses[:, self.dimension :] = np.reshape(rows, (len(self), -1))
        self.set_poses(poses)

    @property
    def velocities(self) -> Array:
        """Velocities of the centres of mass, a row each, m/s."""
        return self.motions[:, : self.dimension]

    @velocities.setter
    def velocities(self, rows: ArrayLike) -> None:
        motions = self.motions.copy()
        motions[:, : self.dimension] = rows
        self.set_motions(motions)

    @property
    def spins(self) -> Array:
        """Angular velocities, a row each, rad/s; in the plane a number each."""
        rows: Array = self.motions[:, 3:] if self.dimension == 3 else self.motions[:, 2]
        return rows

    @spins.setter
    def spins(self, rows: ArrayLike) -> None:
        motions = self.motions.copy()
        motions[:, self.dimension :] = np.reshape(rows, (len(self), -1))
        self.set_motions(motions)

    def add_forces(
        self, forces: ArrayLike, torques: ArrayLike | None = None, *, bodies: Iterable[BodyLike] | None = None
    ) -> None:
        """Adds forces (N, a row for each body) at the centres of mass, and torques (N·m), for the
        next step only: to all bodies, or those given."""
        forces = np.asarray(forces, dtype=float)
        spin = 1 if self.dimension == 2 else 3
        turns = np.zeros((len(forces), spin)) if torques is None else np.reshape(np.asarray(torques, dtype=float), (-1, spin))
        self.add_wrenches(np.hstack([forces, turns]), None if bodies is None else list(bodies))

    @property
    def contacts(self) -> Contacts:
        """The contacts of the last step."""
        bodies, *rest = self.read_contacts()
        return Contacts(bodies.astype(np.int64), *rest)

    def contact_problem(self, *, last: bool = False) -> Problem:
        """The contact problem of the coming step as matrices; with ``last`` that of the last judged
        one, whose answer is ``last_impulses()``."""
        return contact_problem(self, last=last)

    @property
    def events(self) -> list[Event]:
        """What happened in the last step, in worlds with ``events=True``."""

        def event(told: dict[str, Any]) -> Event:
            a, b = (self.body(place) for place in (told.pop("a"), told.pop("b")))
            arrays: dict[str, Any] = {key: np.array(told.pop(key)) for key in ("point", "impulse") if key in told}
            return Event(a=a, b=b, **arrays, **told)

        return [event(told) for told in self.read_events()]

    @property
    def energy(self) -> Energy:
        """Energy of all bodies that move, J."""
        return Energy(*self.energies)

    # Queries.

    def cast_ray(
        self, origin: Vector, direction: Vector, max_distance: float = np.inf, *, ignore: Iterable[BodyLike] = ()
    ) -> RayHit | None:
        """The first body that a ray hits, within a distance (m)."""
        hits = self.cast_rays([list(origin)], [list(direction)], max_distance, ignore=ignore)
        bodies, distances, points, normals = hits
        if bodies[0] < 0:
            return None
        return RayHit(self.body(int(bodies[0])), float(distances[0]), points[0], normals[0])

    def cast_rays(
        self, origins: ArrayLike, directions: ArrayLike, max_distance: float = np.inf, *, ignore: Iterable[BodyLike] = ()
    ) -> tuple[Ints, Array, Array, Array]:
        """What many rays hit first: bodies (−1 for none), distances (m), points (m), normals."""
        rays = np.asarray(origins, dtype=float), np.asarray(directions, dtype=float)
        return self.ray_hits(rays, max_distance, list(ignore))

    def closest_point(
        self, point: Vector, max_distance: float = np.inf, *, ignore: Iterable[BodyLike] = ()
    ) -> tuple[Body, Array, float] | None:
        """The body nearest to a point: its point (m) and signed distance (m, negative inside)."""
        found = self.nearest([float(x) for x in point], max_distance, list(ignore))
        return None if found is None else (self.body(found[0]), np.array(found[1]), found[2])

    def overlapping(self, lower: Vector, upper: Vector) -> list[Body]:
        """The bodies whose bounding boxes share a point with a box along the axes (m)."""
        places = self.bodies_in([float(x) for x in lower], [float(x) for x in upper])
        return [self.body(place) for place in places]

    def separation(self, a: BodyLike, b: BodyLike) -> tuple[Array, Array, Array, float] | None:
        """Closest points of two bodies: on A, on B (m), unit normal from A to B, distance (m)."""
        found = self.closest(a, b)
        return None if found is None else (np.array(found[0]), np.array(found[1]), np.array(found[2]), found[3])

    # Copies and files.

    def copy(self) -> World:
        """Another world in the same state; both go on alike, bit by bit."""
        return type(self)._of("copy", self)

    __copy__ = copy

    def __deepcopy__(self, _memo: Any) -> World:
        return self.copy()

    def __reduce__(self) -> Any:
        return type(self)._of, ("bytes", self.save_bytes())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Saves the world, to be loaded by ``drystone.load``: it goes on bit by bit."""
        with open(path, "wb") as file:
            file.write(self.save_bytes())

    def __repr__(self) -> str:
        return f"<drystone.World: {self.dimension}D, {len(self)} bodies, t = {self.time:.6g} s>"


def load(path: str | os.PathLike[str]) -> World:
    """A world from a scene (.toml, .json), a model (.xml, .urdf, .glb, .usda, .obj, …) or a file
    that ``World.save`` wrote."""
    with open(path, "rb") as file:
        if file.read(len(_SAVED)) == _SAVED:
            return World._of("bytes", _SAVED + file.read())
    return World._of("file", os.fspath(path))


def from_toml(text: str) -> World:
    """A world from a scene in TOML."""
    return World._of("toml", text)


def _entry(**fields: Any) -> dict[str, Any]:
    """What is given."""
    return {key: value for key, value in fields.items() if value is not None}


def _json(value: Any) -> str:
    def plain(value: Any) -> Any:
        if isinstance(value, (np.ndarray, np.generic)):
            return value.tolist()
        if isinstance(value, (tuple, range)):
            return list(value)
        raise TypeError(f"a scene can't hold {value!r}; give numbers, words, lists and tables")

    try:
        return json.dumps(value, default=plain, allow_nan=False)
    except ValueError:
        raise ValueError("a scene is made of finite numbers; one of those given is not") from None


def _free(name: str, taken: list[str]) -> str:
    """The name, with a number if it is taken."""
    if name not in taken:
        return name
    return next(f"{name} {k}" for k in range(2, len(taken) + 3) if f"{name} {k}" not in taken)
