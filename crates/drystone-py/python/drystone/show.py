"""Runs that show themselves: an interactive replay in a notebook, plots."""

from __future__ import annotations

import html
import os
import tempfile
import webbrowser
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._types import Array

if TYPE_CHECKING:
    from .world import World

_COLUMNS = ("time", "kinetic", "potential", "elastic", "residual", "penetration", "energy_made", "contacts")


@dataclass(frozen=True)
class Run:
    """A run: a page that plays it, and numbers of every step. In a notebook it shows itself."""

    #: A page that plays the run in any browser, without a server.
    html: str
    #: Numbers of every step, a row each: see the properties.
    numbers: Array
    name: str = "run"

    def __getattr__(self, name: str) -> Array:
        if name in _COLUMNS:
            column: Array = self.numbers[:, _COLUMNS.index(name)]
            return column
        raise AttributeError(f"a run has no `{name}`; it has {', '.join(_COLUMNS)}")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page."""
        Path(path).write_text(self.html, encoding="utf-8")

    def show(self) -> None:
        """Plays the run in the browser."""
        page = Path(tempfile.mkdtemp(prefix="drystone-")) / "replay.html"
        self.save(page)
        webbrowser.open(page.as_uri())

    def _repr_html_(self) -> str:
        return framed(self.html)

    def __repr__(self) -> str:
        seconds = self.time[-1] if len(self.numbers) else 0.0
        return f"<drystone.Run: {self.name}, {len(self.numbers)} steps, to t = {seconds:.6g} s>"


def framed(page: str) -> str:
    """A page inside another one."""
    style = "width: 100%; height: 480px; border: 0"
    return f'<iframe style="{style}" sandbox="allow-scripts" srcdoc="{html.escape(page)}"></iframe>'


def record(world: World, seconds: float) -> Run:
    """Makes the steps of so many seconds and gives the run, to be played and plotted."""
    page, numbers = world.play(round(seconds / world.dt))
    return Run(page, numbers, repr(world))


def plot(run: Run, path: str | os.PathLike[str] | None = None) -> Any:
    """Draws energy, penetration and residual of a run over time with matplotlib: the figure."""
    from matplotlib.figure import Figure

    if path is None:
        import matplotlib.pyplot as plt

        figure = plt.figure(figsize=(8, 6), layout="constrained")
    else:
        figure = Figure(figsize=(8, 6), layout="constrained")
    energy, depth, residual = figure.subplots(3, sharex=True)
    for name in ("kinetic", "potential", "elastic"):
        if getattr(run, name).any():
            energy.plot(run.time, getattr(run, name), label=name)
    energy.plot(run.time, run.kinetic + run.potential + run.elastic, "k--", linewidth=1, label="total")
    energy.set_ylabel("energy (J)")
    energy.legend()
    depth.plot(run.time, 1e3 * run.penetration)
    depth.set_ylabel("penetration (mm)")
    residual.semilogy(run.time, run.residual.clip(1e-16))
    residual.set_ylabel("residual (m/s)")
    residual.set_xlabel("time (s)")
    if path is not None:
        figure.savefig(path)
    return figure
