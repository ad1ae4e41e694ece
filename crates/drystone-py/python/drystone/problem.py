"""The contact problem of a step as SciPy's matrices: write a solver, let the judge grade it.

With the impulses γ (a row for each contact: normal, then tangents; N·s) the velocities at the
contacts beyond what the law compares with zero are ``ũ = A γ − b``, and Coulomb's and Signorini's
laws ask ``0 ≤ γ_N ⊥ ũ_N ≥ 0``, ``‖γ_T‖ ≤ μ γ_N``, friction against slip.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from . import _native
from ._types import Array

if TYPE_CHECKING:
    from .world import World


class Residual(NamedTuple):
    """What the judge says of impulses; it knows no solver."""

    #: Largest natural-map residual, m/s.
    residual_m_s: float
    #: Sum of the natural map over sum of normal impulses, without unit.
    relative: float
    #: Largest speed at which a contact still closes, m/s.
    approach_speed_m_s: float
    #: Largest impulse that pulls, N·s.
    pull_n_s: float
    #: Largest friction beyond the cone, N·s.
    cone_excess_n_s: float
    #: Largest |r_N ũ_N|, J.
    signorini_j: float
    #: Largest μ r_N‖u_T‖ + r_T·u_T, J.
    friction_direction_j: float
    #: The contact with the largest residual.
    worst: int | None


class Solution(NamedTuple):
    """What a solver found."""

    #: A row for each contact: normal, then tangents, N·s.
    gamma: Array
    #: Iterations made.
    iterations: int
    #: Whether the tolerance was met.
    converged: bool
    #: Largest residual, m/s.
    residual_m_s: float
    #: Relative residual.
    relative: float
    #: After each look: iterations made, largest residual (m/s), relative residual.
    trace: Array


class Problem:
    """The contact problem of one step, as plain data."""

    def __init__(self, native: _native.Problem) -> None:
        self._native = native
        #: 2 or 3: the numbers of a contact's impulse.
        self.dimension: int = native.dimension
        #: Length of the step, s.
        self.dt: float = native.dt
        #: Coulomb's μ of each contact.
        self.mu: Array = native.mu
        #: Velocities of the bodies after forces and before contact, in the order of J's columns.
        self.free: Array = native.free
        #: First and one past the last contact of each group that shares no moving body with others.
        self.islands: list[tuple[int, int]] = native.islands

    def __len__(self) -> int:
        return len(self._native)

    @cached_property
    def _matrices(self) -> dict[str, Any]:
        return self._native.matrices()

    def _sparse(self, name: str) -> Any:
        from scipy.sparse import csc_matrix  # type: ignore[import-untyped, unused-ignore]

        shape, starts, rows, values = self._matrices[name]
        return csc_matrix((values, rows, starts), shape=shape).tocsr()

    @cached_property
    def J(self) -> Any:
        """Relative velocities at the contacts from velocities of the bodies (CSR)."""
        return self._sparse("J")

    @cached_property
    def Minv(self) -> Any:
        """Inverse masses (1/kg) and inertias (1/(kg·m²)), block diagonal (CSR)."""
        return self._sparse("Minv")

    @cached_property
    def A(self) -> Any:
        """J M⁻¹ Jᵀ, symmetric (CSR), 1/kg."""
        return self._sparse("A")

    @cached_property
    def b(self) -> Array:
        """``t − J v*`` on normals, ``−J v*`` on tangents, m/s."""
        b: Array = self._matrices["b"]
        return b

    def velocities(self, gamma: ArrayLike) -> Array:
        """Velocities of the bodies after these impulses, in the order of J's columns."""
        v: Array = self.free + self.Minv @ (self.J.T @ np.ravel(np.asarray(gamma, dtype=float)))
        return v

    def __repr__(self) -> str:
        return f"<drystone.Problem: {len(self)} contacts in {self.dimension}D, {len(self.islands)} islands>"


def contact_problem(world: World, *, last: bool = False) -> Problem:
    """The contact problem of the coming step; with ``last`` that of the last judged one."""
    native = world.take_problem(last)
    if native is None:
        raise LookupError("no step was judged yet; make a step with `certify_every=1`")
    return Problem(native)


def solve(
    problem: Problem,
    solver: str = "auto",
    *,
    iterations: int = 1000,
    tolerance: float = 1e-9,
    guess: ArrayLike | None = None,
    callback: Callable[[int, Array, Residual], object] | None = None,
) -> Solution:
    """Solves a problem by one of ``drystone.SOLVERS``, until a residual (m/s).

    ``callback(iteration, gamma, residual)`` is called with the best impulses after every iteration;
    if it returns something true, that is the end. The problem is then solved anew up to each
    iteration, so that k of them cost k²/2: this is for study.
    """
    start = None if guess is None else np.asarray(guess, dtype=float)

    def solved(most: int) -> Solution:
        gamma, made, converged, worst, relative, trace = problem._native.solve(solver, most, tolerance, start)
        return Solution(gamma, made, converged, worst, relative, np.array(trace, dtype=float).reshape(-1, 3))

    if callback is None:
        return solved(iterations)
    for k in range(1, iterations + 1):
        solution = solved(k)
        is_enough = callback(k, solution.gamma, residual(problem, solution.gamma))
        if is_enough or solution.converged or solution.iterations < k:
            break
    return solution


def residual(problem: Problem, gamma: ArrayLike) -> Residual:
    """What the judge says of impulses: a row for each contact, or all in one."""
    rows = np.asarray(gamma, dtype=float).reshape(len(problem), problem.dimension)
    return Residual(**problem._native.judge(rows))
