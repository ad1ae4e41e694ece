"""Handles of bodies, joints and deformables. Each is an ``int``: its place in the world's arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._types import Array, Ints, Vector

if TYPE_CHECKING:
    from ._native import BodyKey, JointKey
    from .world import World


class Body(int):
    """A body of a world. As a number it is its row in ``world.poses`` and all other arrays.

    A handle of a body that was removed raises ``AccessError``, also where another body has taken
    its place.
    """

    _key: BodyKey
    world: World

    def __new__(cls, world: World, key: BodyKey) -> Body:
        body = super().__new__(cls, key.place)
        body._key, body.world = key, world
        return body

    def __reduce__(self) -> Any:
        return _body_again, (self.world, int(self))

    @property
    def name(self) -> str:
        """Its name."""
        return self.world.names[self._there()]

    @property
    def pose(self) -> Array:
        """Position (m), then quaternion x, y, z, w; in the plane position, then angle (rad)."""
        row: Array = self.world.poses[self._there()]
        return row

    @pose.setter
    def pose(self, row: Vector) -> None:
        self.world.set_poses(np.asarray(row, dtype=float)[None], [self])

    @property
    def position(self) -> Array:
        """Where its shape's origin is, m."""
        return self.pose[: self.world.dimension]

    @position.setter
    def position(self, at: Vector) -> None:
        row = self.pose.copy()
        row[: self.world.dimension] = at
        self.pose = row

    @property
    def rotation(self) -> Array:
        """Its quaternion x, y, z, w; in the plane its angle, rad."""
        return self.pose[self.world.dimension :]

    @rotation.setter
    def rotation(self, rotation: Vector) -> None:
        row = self.pose.copy()
        row[self.world.dimension :] = rotation
        self.pose = row

    @property
    def velocity(self) -> Array:
        """Velocity of its centre of mass, m/s."""
        row: Array = self.world.velocities[self._there()]
        return row

    @velocity.setter
    def velocity(self, velocity: Vector) -> None:
        self._set_motion(slice(None, self.world.dimension), velocity)

    @property
    def spin(self) -> Array:
        """Angular velocity in world axes, rad/s; in the plane one number."""
        row: Array = self.world.spins[self._there()]
        return row

    @spin.setter
    def spin(self, spin: Vector | float) -> None:
        self._set_motion(slice(self.world.dimension, None), spin)

    @property
    def mass(self) -> float:
        """Mass, kg; infinite if nothing moves it."""
        return float(self.world.masses[self._there()])

    def push(self, force: Vector, at: Vector | None = None) -> None:
        """Adds a force (N, world axes) for the next step, at a world point or the centre of mass."""
        if at is None:
            self.world.add_forces(np.asarray(force, dtype=float)[None], bodies=[self])
        else:
            self.world.add_force_at(self, [float(x) for x in force], [float(x) for x in at])

    def _there(self) -> int:
        return self.world.body_key(self).place

    def _set_motion(self, part: slice, values: Vector | float) -> None:
        row = self.world.motions[self._there()].copy()
        row[part] = values
        self.world.set_motions(row[None], [self])

    def __repr__(self) -> str:
        try:
            return f"<Body {int(self)} `{self.name}`>"
        except LookupError:
            return f"<Body {int(self)}, removed>"


def _body_again(world: World, place: int) -> Body:
    return world.body(place)


class Joint(int):
    """A joint of a world. As a number it is its place among the joints."""

    _key: JointKey
    world: World

    def __new__(cls, world: World, key: JointKey) -> Joint:
        joint = super().__new__(cls, key.place)
        joint._key, joint.world = key, world
        return joint

    @property
    def reaction(self) -> tuple[Array, Array]:
        """Force (N) and torque (N·m) that it carried in the last step, on its second body."""
        force, torque = self.world.reaction(self._key)
        return np.array(force), np.array(torque)

    def remove(self) -> None:
        """Takes it away."""
        self.world.remove_joint(self._key)

    def __repr__(self) -> str:
        return f"<Joint {int(self)}>"


class Deformable(int):
    """A rope, cloth or soft solid of a world. As a number it is its place among the deformables."""

    world: World

    def __new__(cls, world: World, place: int) -> Deformable:
        deformable = super().__new__(cls, place)
        deformable.world = world
        return deformable

    @property
    def bodies(self) -> Ints:
        """The bodies that are its nodes, in the order of its mesh's vertices."""
        return np.array(self.world.node_places(int(self)), dtype=np.int64)

    @property
    def nodes(self) -> Array:
        """Where its nodes are, m."""
        rows: Array = self.world.positions[self.bodies]
        return rows

    @property
    def faces(self) -> Ints:
        """Its outer triangles, each by three numbers of nodes."""
        bodies = self.bodies
        node_of = np.full(len(self.world), -1, dtype=np.int64)
        node_of[bodies] = np.arange(len(bodies))
        faces: Ints = node_of[self.world.face_places(int(self)).astype(np.int64)]
        return faces

    def __repr__(self) -> str:
        return f"<Deformable {int(self)}>"
