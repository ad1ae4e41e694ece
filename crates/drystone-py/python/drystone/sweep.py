"""One scene with many parameters, on threads, on processes, or on a cluster.

    table = drystone.sweep("arch-25", {"friction": [0.2, 0.4, 0.6]}, seconds=2)

Every point is computed by itself, from the scene's text: the same bytes wherever it runs, and
whatever becomes of other points.
"""

from __future__ import annotations

import itertools
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any, Union

import numpy as np

from . import gallery
from .errors import Error
from .world import World, load

#: A row of the table: the point's parameters, then what was measured.
Row = dict[str, Any]
Points = Union[Mapping[str, Iterable[Any]], Sequence[Mapping[str, Any]]]
#: Keys of `defaults` that need no prefix.
_DEFAULTS = ("friction", "restitution", "density", "linear_damping", "angular_damping")


def sweep(
    scene: World | str | os.PathLike[str],
    parameters: Points,
    *,
    seconds: float | None = None,
    measure: Callable[[World], Mapping[str, Any]] | None = None,
    executor: Executor | str | Any | None = None,
    retries: int = 2,
    out: str | os.PathLike[str] | None = None,
    on_result: Callable[[int, int, Row], object] | None = None,
) -> list[Row]:
    """Runs a scene once for every point and gives a row for each, in the order of the points.

    ``scene`` is a world as it was built, a scene of the gallery, or a file. ``parameters`` has
    values for each key (all combinations are run), or is a list of points. A key is that of a scene
    file: ``"dt"``, ``"friction"`` (of ``defaults``), ``"bodies.ball.velocity"`` (a body by its
    name), ``"bodies[3].shape.box.size"``. ``measure(world)`` is called at the end and gives what is
    noted; ``None`` for the usual (:func:`measures`).

    ``executor``: threads if left out; the address of a Ray cluster ("auto", "127.0.0.1:6379"); or
    anything with ``submit`` (``concurrent.futures``, Dask's ``Client``, ``MPIPoolExecutor``).
    A point whose worker dies is run again, ``retries`` times. ``out`` (.csv, .json, .parquet) is
    written at the end, and results are kept beside it as they come: a sweep that was ended goes on
    where it was. ``on_result(done, all, row)`` is called as results come, in any order.
    """
    text = _scene_text(scene)
    points = _points(parameters)
    tasks = [json.dumps({"scene": text, "point": point, "seconds": seconds}, sort_keys=True) for point in points]
    for point in points:
        _patched(json.loads(text), point)  # A wrong key is told before anything runs.
    journal = _Journal(out, tasks)
    rows: dict[int, Row] = dict(journal.known)
    todo = [k for k in range(len(tasks)) if k not in rows]
    for k, row in _run({k: (tasks[k], measure) for k in todo}, executor, retries):
        rows[k] = row
        journal.note(k, row)
        if on_result is not None:
            on_result(len(rows), len(tasks), row)
    table = [rows[k] for k in range(len(tasks))]
    if out is not None:
        write(table, out)
        journal.close()
    return table


def measures(world: World) -> Row:
    """What is noted of a run unless a program says otherwise."""
    energy, certificate = world.energy, world.certificate
    fastest = float(np.abs(world.velocities).max(initial=0.0))
    row: Row = {"time_s": world.time, "steps": world.steps, "fastest_m_s": fastest}
    row |= {"kinetic_j": energy.kinetic, "potential_j": energy.potential, "elastic_j": energy.elastic}
    if certificate is not None:
        row |= {"residual_m_s": certificate.residual_m_s, "penetration_m": certificate.penetration_m}
    return row | {"hash": f"{world.hash:016x}"}


def grid(text: str) -> tuple[str, list[Any]]:
    """``friction=0.1:0.9:9`` (from, to, how many) or ``solver.name=pgs,newton`` as key and values."""
    key, equals, values = text.partition("=")
    if not (key and equals and values):
        raise ValueError(f"`{text}` must be KEY=FROM:TO:COUNT or KEY=VALUE,VALUE,…")
    bounds = values.split(":")
    if len(bounds) == 3:
        return key, np.linspace(float(bounds[0]), float(bounds[1]), int(bounds[2])).tolist()
    return key, [_value(value) for value in values.split(",")]


def write(table: list[Row], out: str | os.PathLike[str]) -> None:
    """Writes a table as .csv, .json or .parquet."""
    path = Path(out)
    if path.suffix == ".parquet":
        import pyarrow
        import pyarrow.parquet

        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(table), path)
    elif path.suffix == ".json":
        path.write_text(json.dumps(table, indent=1) + "\n")
    elif path.suffix == ".csv":
        import csv

        keys = list(dict.fromkeys(key for row in table for key in row))
        with open(path, "w", newline="") as file:
            writer = csv.DictWriter(file, keys)
            writer.writeheader()
            writer.writerows(table)
    else:
        raise ValueError(f"a table is written as .csv, .json or .parquet, not `{path.suffix}`")


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _scene_text(scene: World | str | os.PathLike[str]) -> str:
    if isinstance(scene, World):
        return scene.scene_json()
    is_named = isinstance(scene, str) and scene in gallery.names()
    return (gallery.scene(str(scene)) if is_named else load(scene)).scene_json()


def _points(parameters: Points) -> list[dict[str, Any]]:
    def plain(value: Any) -> Any:
        return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value

    if isinstance(parameters, Mapping):
        lists = [[plain(value) for value in values] for values in parameters.values()]
        return [dict(zip(parameters, values)) for values in itertools.product(*lists)]
    return [{key: plain(value) for key, value in point.items()} for point in parameters]


def _patched(scene: dict[str, Any], point: Mapping[str, Any]) -> dict[str, Any]:
    """The scene with the point's values in their places."""
    for key, value in point.items():
        path: list[Any] = [int(a) if a else b for a, b in re.findall(r"\[(\d+)\]|([^.\[\]]+)", key)]
        if path and path[0] in _DEFAULTS:
            path.insert(0, "defaults")
        at: Any = scene
        for step, following in zip(path, [*path[1:], None]):
            if isinstance(at, list) and isinstance(step, str):
                named = [k for k, entry in enumerate(at) if entry.get("name") == step]
                if not named:
                    raise Error(f"`{key}`: there is no `{step}` among {[entry.get('name') for entry in at][:12]}")
                step = named[0]
            if following is None:
                at[step] = value
            elif isinstance(at, list):
                at = at[step]
            else:
                at[step] = {} if at.get(step) is None else at[step]
                at = at[step]
    return scene


def _one(task: str, measure: Callable[[World], Mapping[str, Any]] | None) -> Row:
    """Runs one point: a row."""
    told = json.loads(task)
    scene = _patched(json.loads(told["scene"]), told["point"])
    world = World._of("json", json.dumps(scene))
    seconds = told["seconds"]
    world.run(scene["seconds"] if seconds is None else seconds)
    return {**told["point"], **(measure or measures)(world)}


def _run(
    tasks: dict[int, tuple[str, Any]], executor: Executor | str | Any | None, retries: int
) -> Iterator[tuple[int, Row]]:
    """Results as they come."""
    if isinstance(executor, str):
        yield from _run_on_ray(tasks, executor, retries)
    elif executor is None:
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            yield from _run_on(threads, tasks, retries)
    else:
        yield from _run_on(executor, tasks, retries)


def _run_on(executor: Any, tasks: dict[int, tuple[str, Any]], retries: int) -> Iterator[tuple[int, Row]]:
    left = {k: retries for k in tasks}
    while left:
        futures: dict[Future[Row], int] = {executor.submit(_one, *tasks[k]): k for k in left}
        for future in _completed(futures):
            k = futures[future]
            try:
                row = future.result()
            except (Error, ValueError, LookupError):
                raise  # It would fail again.
            except Exception:
                left[k] -= 1
                if left[k] < 0:
                    raise
                continue
            del left[k]
            yield k, row


def _completed(futures: dict[Future[Row], int]) -> Iterator[Future[Row]]:
    """Futures as they are done; those of Dask have no lock to wait on."""
    if all(isinstance(future, Future) for future in futures):
        yield from as_completed(futures)
    else:
        yield from futures


def _run_on_ray(tasks: dict[int, tuple[str, Any]], address: str, retries: int) -> Iterator[tuple[int, Row]]:
    import ray

    if not ray.is_initialized():
        ray.init(address=None if address == "local" else address, log_to_driver=False)
    run = ray.remote(num_cpus=1, max_retries=retries)(_one)
    waiting = {run.remote(*task): k for k, task in tasks.items()}
    while waiting:
        done, _ = ray.wait(list(waiting), num_returns=1)
        for reference in done:
            yield waiting.pop(reference), ray.get(reference)


class _Journal:
    """Results beside the table as they come, so that a sweep that was ended can go on."""

    def __init__(self, out: str | os.PathLike[str] | None, tasks: list[str]) -> None:
        self.path = None if out is None else Path(f"{os.fspath(out)}.part")
        self.tasks = tasks
        self.known: dict[int, Row] = {}
        if self.path is not None and self.path.exists():
            place = {task: k for k, task in enumerate(tasks)}
            for line in self.path.read_text().splitlines():
                try:
                    task, row = json.loads(line)
                except ValueError:
                    continue  # The line that was cut short.
                if task in place:
                    self.known[place[task]] = row

    def note(self, k: int, row: Row) -> None:
        if self.path is not None:
            with open(self.path, "a") as file:
                file.write(json.dumps([self.tasks[k], row]) + "\n")

    def close(self) -> None:
        if self.path is not None:
            self.path.unlink(missing_ok=True)
