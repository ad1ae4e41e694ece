"""``python -m drystone`` is the program ``drystone``, and has ``sweep`` besides."""

import sys

from . import _native


def main() -> int:
    """Does what the command line asks."""
    typed = sys.argv[1:]
    if typed[:1] == ["sweep"]:
        from ._sweep_command import main as sweep

        return sweep(typed[1:])
    return _native.main(["drystone", *typed])


if __name__ == "__main__":
    sys.exit(main())
