"""The scenes that come with Drystone, each a function: ``drystone.gallery.arch_25()``."""

from __future__ import annotations

from collections.abc import Callable

from . import _native
from .world import World


def names() -> list[str]:
    """Names of all scenes."""
    return [name for name, _ in _native.gallery()]


def describe() -> dict[str, str]:
    """What to look at in each scene."""
    return dict(_native.gallery())


def scene(name: str) -> World:
    """The world of a scene, by its name."""
    return World._of("gallery", name)


def __getattr__(name: str) -> Callable[[], World]:
    if name.startswith("_"):
        raise AttributeError(name)
    known = name.replace("_", "-")

    def make() -> World:
        return scene(known)

    make.__name__ = name
    make.__doc__ = f"The scene `{known}`."
    return make


def __dir__() -> list[str]:
    return ["names", "describe", "scene", *(name.replace("-", "_") for name in names())]
