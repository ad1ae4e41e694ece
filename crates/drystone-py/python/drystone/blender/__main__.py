"""``python -m drystone.blender OUT.zip`` writes the Blender add-on."""

import sys

from . import write_zip

if len(sys.argv) != 2 or not sys.argv[1].endswith(".zip"):
    sys.exit("usage: python -m drystone.blender OUT.zip")
write_zip(sys.argv[1])
