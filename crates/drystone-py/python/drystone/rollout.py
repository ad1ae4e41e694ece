"""Many worlds at once: each world in one thread of the engine, results in one array.

What a world does depends on no other and on no number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Union

import numpy as np
from numpy.typing import ArrayLike

from . import _native
from ._types import Array, Ints
from .errors import StepError
from .handles import Joint
from .world import World

#: One world and how many copies of it, or the worlds themselves.
Worlds = Union[World, Sequence[World]]


@dataclass(frozen=True)
class Rollout:
    """What many worlds did."""

    #: (worlds, frames, bodies, 7) as ``World.poses``; NaN after an error.
    poses: Array
    #: (worlds, frames, bodies, 6): velocities, then spins.
    motions: Array
    #: The worst residual of the steps up to each frame, (worlds, frames), m/s.
    residuals: Array
    #: Why a world stopped, in the engine's words.
    errors: list[str | None]
    #: Length of a step, s, and steps from a frame to the next.
    dt: float
    every: int

    @property
    def times(self) -> Array:
        """Time of each frame after the start, s."""
        frames: Array = np.arange(1, self.poses.shape[1] + 1) * (self.dt * self.every)
        return frames

    @property
    def positions(self) -> Array:
        """Where the bodies' origins are, m."""
        return self.poses[..., : 3 if self.poses.shape[-1] == 7 else 2]

    @property
    def velocities(self) -> Array:
        """Velocities of the centres of mass, m/s."""
        return self.motions[..., : 3 if self.motions.shape[-1] == 6 else 2]


def copies(world: World, count: int, vary: Callable[[World, int], object] | None = None) -> list[World]:
    """So many copies of a world; ``vary(copy, k)`` may change each."""
    made = [world.copy() for _ in range(count)]
    for k, copy in enumerate(made):
        if vary is not None:
            vary(copy, k)
    return made


def rollout(
    worlds: Worlds,
    steps: int,
    *,
    controls: ArrayLike | None = None,
    joints: Sequence[Joint] = (),
    every: int = 1,
    threads: int | None = None,
    in_place: bool = False,
    keep_errors: bool = False,
) -> Rollout:
    """Steps worlds on all cores and gives what they did, a frame every ``every`` steps.

    ``controls`` (worlds, steps, joints) or (steps, joints) are targets of the joints' motors (rad/s
    or m/s) or servos (rad or m). Worlds stay as they are unless ``in_place``. Where a world can't
    go on, ``StepError`` is raised, unless ``keep_errors``.
    """
    given = [worlds] if isinstance(worlds, World) else list(worlds)
    if not in_place:
        given = [world.copy() for world in given]
    table = None
    if controls is not None:
        table = np.asarray(controls, dtype=float)
        table = np.ascontiguousarray(np.broadcast_to(table, (len(given), *table.shape[-2:])))
    keys = [joint._key for joint in joints]
    done = _native.advance(given, (steps, every), keys, table, threads or os.cpu_count() or 1)
    failed = [(k, error) for k, error in enumerate(done["errors"]) if error]
    if failed and not keep_errors:
        k, error = failed[0]
        raise StepError(f"world {k}: {error}" + (f" (and {len(failed) - 1} others)" if failed[1:] else ""))
    return Rollout(dt=given[0].dt if given else 0.0, every=every, **done)


def gradient(
    make: Callable[[Array], World],
    parameters: ArrayLike,
    loss: Callable[[Rollout], ArrayLike],
    steps: int,
    *,
    step: ArrayLike = 1e-4,
    threads: int | None = None,
) -> tuple[float, Array, Ints]:
    """The derivative of a loss by central finite differences, all worlds side by side.

    ``make(parameters)`` builds a world, ``loss(rollout)`` gives a number for each world (a row of
    the rollout's arrays). Whatever is random must come from the parameters, so that all worlds draw
    the same numbers.

    Gives the loss, its gradient, and the parameters **in doubt**: those where half the step gives a
    derivative that differs by more than a part in ten, because contacts begin or end there (or
    the step is too long or too short). No derivative of them should be trusted.
    """
    at = np.asarray(parameters, dtype=float).ravel()
    h = np.broadcast_to(np.asarray(step, dtype=float), at.shape)
    points = [at]
    for k in range(len(at)):
        for factor in (1.0, -1.0, 0.5, -0.5):
            moved = at.copy()
            moved[k] += factor * h[k]
            points.append(moved)
    made = rollout([make(point) for point in points], steps, every=steps, in_place=True, threads=threads)
    losses = np.asarray(loss(made), dtype=float)
    if losses.shape != (len(points),):
        raise ValueError(f"the loss must give {len(points)} numbers, one for each world, not {losses.shape}")
    far, near = losses[1:].reshape(-1, 2, 2).transpose(1, 0, 2)
    coarse, fine = (far[:, 0] - far[:, 1]) / (2 * h), (near[:, 0] - near[:, 1]) / h
    # One side alone shows a kink in the middle, which central differences would hide.
    left, right = (losses[0] - near[:, 1]) / (h / 2), (near[:, 0] - losses[0]) / (h / 2)
    scale = np.maximum(np.abs(fine), 1e-9 * np.max(np.abs(fine), initial=1.0))
    doubt = (np.abs(coarse - fine) > 0.1 * scale) | (np.abs(left - right) > 0.2 * scale)
    return float(losses[0]), (4 * fine - coarse) / 3, np.flatnonzero(doubt)
