"""The contact problem as matrices, and what the judge says of answers to it."""

import numpy as np
import pytest

import drystone

pytest.importorskip("scipy")


def tower(count, dimension=3):
    world = drystone.World(dimension, strategy="velocity")
    world.floor()
    for k in range(count):
        world.box(at=(0, 0.5 + k, 0)[:dimension])
    return world


def pgs(problem, sweeps):
    """Projected Gauss-Seidel: one contact after the other, normal and friction disk."""
    d, a, b = problem.dimension, problem.A.tocsr(), problem.b
    gamma = np.zeros(a.shape[0])
    blocks = [a[d * i : d * i + d, d * i : d * i + d].toarray() for i in range(len(problem))]
    for _ in range(sweeps):
        for i, block in enumerate(blocks):
            rows, r = slice(d * i, d * i + d), gamma[d * i : d * i + d]
            u = a[rows] @ gamma - b[rows]
            r[0] = max(0.0, r[0] - u[0] / block[0, 0])
            u = a[rows] @ gamma - b[rows]
            r[1:] -= u[1:] / np.linalg.eigvalsh(block[1:, 1:])[-1]
            r[1:] *= min(1.0, problem.mu[i] * r[0] / max(np.linalg.norm(r[1:]), 1e-300))
    return gamma


@pytest.mark.parametrize("dimension", [2, 3])
def test_the_matrices_are_what_they_say(dimension):
    problem = tower(3, dimension).contact_problem()
    contacts = 3 * (2 if dimension == 2 else 4)
    assert len(problem) == contacts and problem.A.shape == (contacts * dimension,) * 2
    assert abs(problem.A - problem.J @ problem.Minv @ problem.J.T).max() < 1e-15
    assert abs(problem.A - problem.A.T).max() < 1e-15
    fall = problem.free.reshape(4, -1)[1:, 1]
    assert np.allclose(fall, -9.81 * problem.dt)
    # With no impulses contacts close at the speed of the first box's fall, the others not at all.
    assert problem.b.max() == pytest.approx(9.81 * problem.dt)


def test_a_students_solver_comes_to_the_engines_answer():
    problem = tower(3).contact_problem()
    found = drystone.solve(problem, "newton", tolerance=1e-12)
    assert found.converged and drystone.residual(problem, found.gamma).residual_m_s < 1e-12
    weight = 3 * 2600 * 9.81 * problem.dt
    grades = [drystone.residual(problem, pgs(problem, sweeps)).residual_m_s for sweeps in (1, 10, 100, 300)]
    assert grades == sorted(grades, reverse=True) and grades[-1] < 1e-5
    mine = pgs(problem, 300).reshape(-1, 3)
    assert mine[:4, 0].sum() == pytest.approx(weight, rel=1e-2)
    assert found.gamma[:4, 0].sum() == pytest.approx(weight, rel=1e-9)


def test_the_judge_names_what_is_wrong():
    problem = tower(1).contact_problem()
    nothing = drystone.residual(problem, np.zeros((4, 3)))
    assert nothing.approach_speed_m_s == pytest.approx(9.81 * problem.dt) and nothing.worst in range(4)
    pulled = drystone.residual(problem, np.tile((-1.0, 0, 0), (4, 1)))
    assert pulled.pull_n_s == pytest.approx(1)
    slid = drystone.residual(problem, np.tile((1.0, 5, 0), (4, 1)))
    assert slid.cone_excess_n_s == pytest.approx(5 - problem.mu[0])
    with pytest.raises(ValueError, match="reshape|shape"):
        drystone.residual(problem, np.zeros(5))


@pytest.mark.parametrize("solver", [name for name in drystone.SOLVERS if name not in ("enumerate", "lemke")])
def test_every_solver_answers_and_shows_its_iterates(solver):
    problem = tower(2).contact_problem()
    seen = []
    found = drystone.solve(problem, solver, tolerance=1e-7, iterations=400)
    assert found.converged, found
    assert drystone.residual(problem, found.gamma).residual_m_s == pytest.approx(found.residual_m_s, rel=1e-6, abs=1e-15)
    drystone.solve(problem, solver, iterations=5, tolerance=1e-12, callback=lambda k, gamma, r: seen.append((k, r.residual_m_s)))
    assert seen and seen[0][0] == 1
    worst = [r for _, r in seen]
    assert worst == sorted(worst, reverse=True), "the best so far never gets worse"


def test_the_last_problem_comes_with_its_answer():
    world = tower(2)
    with pytest.raises(LookupError, match="make a step"):
        world.contact_problem(last=True)
    world.step(5)
    problem, gamma = world.contact_problem(last=True), world.last_impulses()
    certificate = world.certificate
    assert drystone.residual(problem, gamma).residual_m_s == pytest.approx(certificate.residual_m_s, rel=1e-9)


def test_a_guess_saves_work():
    problem = tower(4).contact_problem()
    cold = drystone.solve(problem, "pgs", tolerance=1e-6, iterations=5000)
    warm = drystone.solve(problem, "pgs", tolerance=1e-6, iterations=5000, guess=cold.gamma)
    assert cold.iterations > 10 > warm.iterations


def test_an_unknown_solver_is_answered_with_those_there_are():
    with pytest.raises(drystone.AccessError, match="newton"):
        drystone.solve(tower(1).contact_problem(), "newtn")
