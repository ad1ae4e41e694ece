"""What can go wrong, in the engine's words."""

from __future__ import annotations


class Error(Exception):
    """Anything that Drystone refuses."""


class SceneError(Error, ValueError):
    """Something that can't be built: what is wrong, where, and what would be right.

    The parts are there one by one: ``problem``, ``help``, ``field`` (such as
    ``bodies[3].shape.ball.radius``), and for files ``file``, ``line`` and ``column``.
    """

    problem: str = ""
    help: str | None = None
    field: str | None = None
    file: str | None = None
    line: int | None = None
    column: int | None = None


class StepError(Error, RuntimeError):
    """A step that could not be made. The world is as it was before it."""


class AccessError(Error, LookupError):
    """A body or joint that is not there, or numbers that are none."""


class SnapshotError(Error, ValueError):
    """Bytes that are no snapshot of this world."""
