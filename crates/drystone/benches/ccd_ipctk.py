"""ipctk on the queries that `cargo bench -p drystone --bench ccd` hands over.

Arguments: a file of f64 (24 numbers a query: four corners at t = 0, four at t = 1), a file of
bytes (two a query: 0 vertex-face or 1 edge-edge, then the truth). Prints one line a method and
kind: name, kind, missed, needless, microseconds a query, and the same less an empty call.
"""

import sys
import time

import ipctk
import numpy as np

CHUNK = 100

ipctk.set_logger_level(ipctk.LoggerLevel.error)
corners = np.fromfile(sys.argv[1], dtype="<f8").reshape(-1, 8, 3)
labels = np.fromfile(sys.argv[2], dtype=np.uint8).reshape(-1, 2)


def run(function, queries, rounds):
    """Answers, and microseconds a query: the best time of each short chunk, so that other work on
    the machine is not counted."""
    answers, total = [], 0.0
    for first in range(0, len(queries), CHUNK):
        chunk, best = queries[first : first + CHUNK], float("inf")
        for _ in range(rounds):
            begin = time.perf_counter()
            of_chunk = [function(*query) for query in chunk]
            best = min(best, time.perf_counter() - begin)
        answers += of_chunk
        total += best
    return answers, 1e6 * total / max(len(queries), 1)


for name, method, rounds in (
    ("ipctk additive", ipctk.AdditiveCCD(), 25),
    ("ipctk Tight-Inclusion", ipctk.TightInclusionCCD(), 1),
):
    for kind, function in enumerate((method.point_triangle_ccd, method.edge_edge_ccd)):
        chosen = np.flatnonzero(labels[:, 0] == kind)
        queries = [list(corners[k]) for k in chosen]
        # An empty call of the same binding: eight arrays through, and nothing to compute because
        # the far corners stand still and the method leaves at once.
        far = [np.full(3, 10.0 * k) for k in range(4)] * 2
        _, empty = run(function, [far] * len(queries), 25)
        answers, micros = run(function, queries, rounds)
        hits = np.array([answer[0] for answer in answers], dtype=bool)
        truth = labels[chosen, 1].astype(bool)
        missed, needless = np.sum(truth & ~hits), np.sum(hits & ~truth)
        print(f"{name}\t{kind}\t{missed}\t{needless}\t{micros:.4f}\t{max(micros - empty, 0.0):.4f}")
        sys.stdout.flush()
