"""The types that the package promises."""

import subprocess
import sys
from pathlib import Path

import pytest

import drystone

PROJECT = Path(__file__).parent.parent / "pyproject.toml"

USER = """
import drystone
import numpy as np
from numpy.typing import NDArray

world = drystone.World(3, friction=0.5)
box: drystone.Body = world.box(size=1, at=(0, 3, 0))
world.run(0.1)
poses: NDArray[np.float64] = world.poses
world.velocities = np.zeros((1, 3))
certificate = world.certificate
if certificate is not None:
    depth: float = certificate.penetration_m
"""


def test_the_package_and_a_users_program_pass_mypy_strict(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "user.py").write_text(USER)
    package = Path(drystone.__file__).parent
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", str(PROJECT), "--exclude", "/blender/", "--cache-dir", str(tmp_path), str(package), str(tmp_path / "user.py")]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def test_the_stub_names_what_the_module_has():
    stub = (Path(drystone.__file__).parent / "_native.pyi").read_text()
    from drystone import _native

    for name in dir(_native.World):
        if not name.startswith("_"):
            assert f"def {name}(" in stub or f"    {name}:" in stub, name
    for name in dir(_native):
        if not name.startswith("_"):
            assert name in stub, name
