"""Types of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
#: A few numbers: a list, a tuple or an array.
Vector = Union[Sequence[float], NDArray[Any]]
