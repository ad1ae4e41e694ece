"""``python -m drystone sweep``: a scene with many parameters, on threads or on a Ray cluster."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .errors import Error
from .sweep import Row, grid, sweep

EXAMPLES = """\
examples:
  python -m drystone sweep sliding-cube --set friction=0.1:0.9:9 --out table.csv
  python -m drystone sweep scene.toml --set dt=0.01,0.005 --set bodies.ball.mass=1:10:4 \\
      --ray auto --out table.parquet --plot table.png"""


def main(typed: list[str]) -> int:
    """Does what the command line asks."""
    parser = argparse.ArgumentParser(
        prog="drystone sweep", description="Run a scene with many parameters.",
        epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("scene", help="a scene of the gallery, or a file")
    parser.add_argument("--set", dest="grids", action="append", required=True, metavar="KEY=VALUES", type=_grid,
                        help="FROM:TO:COUNT, or VALUE,VALUE,…; given several times all combinations are run")
    parser.add_argument("--seconds", type=float, metavar="S", help="simulated time of each run [default: the scene's]")
    parser.add_argument("--out", type=Path, metavar="FILE", help="the table: .csv, .json or .parquet; a sweep that was ended goes on")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="a picture of what was measured over the first key")
    parser.add_argument("--ray", metavar="ADDRESS", help="run on a Ray cluster: its address, or `auto`")
    given = parser.parse_args(typed)
    try:
        table = sweep(given.scene, dict(given.grids), seconds=given.seconds, executor=given.ray, out=given.out, on_result=_progress)
        if given.plot is not None:
            plot(table, given.grids[0][0], given.plot)
    except KeyboardInterrupt:
        print("ended; the same command goes on where it was" if given.out else "ended", file=sys.stderr)
        return 130
    except (Error, ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if given.out is None:
        keys = list(table[0])
        print(*keys, sep=",")
        for row in table:
            print(*(row[key] for key in keys), sep=",")
    return 0


def plot(table: list[Row], over: str, path: Path) -> None:
    """Draws every number of a table over one of its columns."""
    from matplotlib.figure import Figure

    keys = [key for key, value in table[0].items() if key != over and isinstance(value, (int, float))]
    keys = [key for key in keys if len({row[key] for row in table}) > 1]
    figure = Figure(figsize=(7, 2.2 * max(len(keys), 1)), layout="constrained")
    all_axes = figure.subplots(max(len(keys), 1), sharex=True, squeeze=False)[:, 0]
    for axes, key in zip(all_axes, keys):
        axes.plot([row[over] for row in table], [row[key] for row in table], "o", markersize=4)
        axes.set_ylabel(key)
        axes.grid(alpha=0.3)
    all_axes[-1].set_xlabel(over)
    figure.savefig(path)


def _grid(text: str) -> tuple[str, list[object]]:
    try:
        return grid(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _progress(done: int, all_of_them: int, _row: Row) -> None:
    if sys.stderr.isatty():
        print(f"\r{done} of {all_of_them}", end="\n" if done == all_of_them else "", file=sys.stderr, flush=True)
