"""ipctk on a step that `cargo bench -p drystone --bench cloth` hands over: what one iteration of
an incremental-potential solver would ask of it.

Arguments: a file of f64 (vertices at the start of the step), one of f64 (at its end), one of u32
(faces), the distance to be kept (m), that to which its barrier reaches beyond (m), the number of
threads. Prints one line: candidates, milliseconds of the fastest broad phase and its name, of the
additive continuous collision over all candidates, of the barrier with gradient and Hessian, and
the number of its collisions.
"""

import sys
import time

import ipctk
import numpy as np

ROUNDS = 5

start, end = (np.fromfile(name, dtype="<f8").reshape(-1, 3) for name in sys.argv[1:3])
faces = np.fromfile(sys.argv[3], dtype="<u4").reshape(-1, 3).astype(np.int32)
kept, reach = map(float, sys.argv[4:6])
ipctk.set_logger_level(ipctk.LoggerLevel.error)
ipctk.set_num_threads(int(sys.argv[6]))
start, end, faces = (np.asfortranarray(array) for array in (start, end, faces))
mesh = ipctk.CollisionMesh(start, ipctk.edges(faces), faces)


def timed(work):
    """What some work makes, and the milliseconds of the fastest of some rounds."""
    best = float("inf")
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        answer = work()
        best = min(best, time.perf_counter() - begin)
    return answer, 1e3 * best


def gather(broad_phase):
    candidates = ipctk.Candidates()
    candidates.build(mesh, start, end, 0.5 * kept, broad_phase)
    return candidates


def barrier():
    collisions = ipctk.NormalCollisions()
    collisions.build(mesh, start, reach, kept, type(phase)())
    potential = ipctk.BarrierPotential(reach, 1.0)
    potential.gradient(collisions, mesh, start)
    potential.hessian(collisions, mesh, start, ipctk.PSDProjectionMethod.CLAMP)
    return len(collisions)


phases = [ipctk.HashGrid(), ipctk.LBVH(), ipctk.SweepAndPrune(), ipctk.SpatialHash()]
answers = [(*timed(lambda: gather(phase)), phase) for phase in phases]
candidates, search, phase = min(answers, key=lambda answer: answer[1])
_, narrow = timed(
    lambda: candidates.compute_collision_free_stepsize(
        mesh, start, end, kept, ipctk.AdditiveCCD()
    )
)
collisions, push = timed(barrier)
name = type(phase).__name__
print(f"{len(candidates)}\t{search:.2f}\t{name}\t{narrow:.2f}\t{push:.2f}\t{collisions}")
