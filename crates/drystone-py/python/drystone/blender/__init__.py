"""The Blender add-on: pick objects, give them a role, bake.

``python -m drystone.blender OUT.zip`` writes the add-on. Blender's own Python needs the wheel:
``…/blender/5.0/python/bin/python -m pip install drystone-*.whl``.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

#: Files of the add-on, beside this one.
_FILES = ("addon.py", "bake.py", "build.py", "blender_manifest.toml")


def write_zip(out: str | Path) -> None:
    """Writes the add-on as the zip file that Blender installs."""
    here = Path(__file__).parent
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name in _FILES:
            inside = "__init__.py" if name == "addon.py" else name
            file.writestr(zipfile.ZipInfo(inside if name.endswith("toml") else inside), (here / name).read_bytes())
