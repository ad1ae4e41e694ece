"""Drystone's worlds as a vector environment of Gymnasium."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gymnasium
import numpy as np

from ._types import Array
from .handles import Joint
from .rollout import Rollout, rollout
from .world import World


class VectorEnv(gymnasium.vector.VectorEnv):  # type: ignore[misc, unused-ignore]
    """Many copies of a world, stepped side by side by the engine.

    An action is the target of each joint's motor or servo. ``observe(rollout)``, ``reward(rollout,
    actions)`` and ``terminated(rollout)`` get the state after the step (``rollout.poses[:, -1]``,
    …) and give an array with a row for each world. ``vary(world, rng)`` changes a copy at its
    start. A world that ends, by itself or after ``max_steps``, begins anew at its next step.
    """

    def __init__(
        self,
        world: World,
        num_envs: int,
        *,
        joints: Sequence[Joint] = (),
        reward: Callable[[Rollout, Array], Array],
        observe: Callable[[Rollout], Array] | None = None,
        terminated: Callable[[Rollout], Array] | None = None,
        vary: Callable[[World, np.random.Generator], object] | None = None,
        bound: float = np.inf,
        max_steps: int = 1000,
        frame_skip: int = 1,
        threads: int | None = None,
    ) -> None:
        self.num_envs = num_envs
        self.metadata = {"autoreset_mode": gymnasium.vector.AutoresetMode.NEXT_STEP}
        self._start, self._joints, self._vary = world.copy(), list(joints), vary
        self._reward, self._observe, self._terminated = reward, observe or _everything, terminated
        self._max_steps, self._skip, self._threads = max_steps, frame_skip, threads
        self._rngs: list[np.random.Generator] = [np.random.default_rng(k) for k in range(num_envs)]
        self._worlds = [world.copy() for _ in range(num_envs)]
        self._age = np.zeros(num_envs, dtype=int)
        self._over = np.zeros(num_envs, dtype=bool)
        space = gymnasium.spaces.Box
        self.single_action_space = space(-bound, bound, (len(self._joints),), dtype=np.float64)
        one = self._observe(_now([self._start]))[0]
        self.single_observation_space = space(-np.inf, np.inf, one.shape, dtype=np.float64)
        batch = gymnasium.vector.utils.batch_space
        self.action_space = batch(self.single_action_space, num_envs)
        self.observation_space = batch(self.single_observation_space, num_envs)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Begins anew, everywhere; a number as seed gives world k the seed ``seed + k``."""
        del options
        if seed is not None:
            seeds = [seed + k for k in range(self.num_envs)] if isinstance(seed, int) else seed
            self._rngs = [np.random.default_rng(one) for one in seeds]
        for k in range(self.num_envs):
            self._begin(k)
        return self._observe(_now(self._worlds)), {}

    def step(self, actions: Any) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        """Makes ``frame_skip`` steps in each world; those that were over begin anew instead."""
        fresh = self._over.copy()
        for k in np.flatnonzero(fresh):
            self._begin(int(k))
        actions = np.asarray(actions, dtype=float).reshape(self.num_envs, len(self._joints))
        going = np.flatnonzero(~fresh)
        failed = np.zeros(self.num_envs, dtype=bool)
        if len(going):
            controls = np.repeat(actions[going, None], self._skip, axis=1)
            made = rollout(
                [self._worlds[k] for k in going], self._skip, controls=controls if self._joints else None,
                joints=self._joints, every=self._skip, threads=self._threads, in_place=True, keep_errors=True,
            )
            failed[going] = [error is not None for error in made.errors]
        self._age[going] += 1
        state = _now(self._worlds)
        rewards = np.where(fresh, 0.0, self._reward(state, actions))
        ended = np.zeros(self.num_envs, dtype=bool) if self._terminated is None else self._terminated(state)
        ended = (ended | failed) & ~fresh
        truncated = (self._age >= self._max_steps) & ~ended
        self._over = ended | truncated
        return self._observe(state), rewards, ended, truncated, {}

    def _begin(self, k: int) -> None:
        self._worlds[k] = self._start.copy()
        if self._vary is not None:
            self._vary(self._worlds[k], self._rngs[k])
        self._age[k], self._over[k] = 0, False


def _now(worlds: list[World]) -> Rollout:
    """The present states as a rollout of one frame."""
    poses, motions = (np.stack([getattr(w, name) for w in worlds])[:, None] for name in ("poses", "motions"))
    nothing: list[str | None] = [None] * len(worlds)
    return Rollout(poses, motions, np.zeros((len(worlds), 1)), nothing, worlds[0].dt, 1)


def _everything(state: Rollout) -> Array:
    """Poses and motions of all bodies."""
    count = len(state.poses)
    rows: Array = np.hstack([state.poses[:, -1].reshape(count, -1), state.motions[:, -1].reshape(count, -1)])
    return rows
