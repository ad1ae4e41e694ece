"""What the judge says of a step. The only file that knows the certificate's fields."""

from __future__ import annotations

import json
from typing import Any


class Certificate:
    """How well the laws of contact held in one step: see ``docs/accuracy.md``.

    Whatever the engine's certificate has is here under the engine's name; units are in the names.
    """

    #: Number of the step, from 1.
    step: int
    #: Number of contact points.
    contacts: int
    #: Largest natural-map residual, m/s.
    residual_m_s: float
    #: Sum of the natural map over sum of normal impulses, without unit.
    relative_residual: float
    #: Largest speed at which a contact still closes, m/s.
    approach_speed_m_s: float
    #: Deepest overlap at the new poses, m.
    penetration_m: float
    #: Energy gained beyond the work of forces, J; 0 where it was lost.
    energy_made_j: float
    #: Error of the momentum balance, N·s.
    momentum_n_s: float
    #: Names of the two bodies at the contact with the largest residual.
    worst: tuple[str, str] | None

    def __init__(self, **fields: Any) -> None:
        worst = fields.get("worst")
        if isinstance(worst, dict) and {"a", "b"} <= worst.keys():
            fields["worst"] = (worst["a"], worst["b"])
        self.__dict__.update(fields)

    @classmethod
    def of_json(cls, text: str | None) -> Certificate | None:
        """The certificate that the engine wrote, if there is one."""
        return None if text is None else cls(**json.loads(text))

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"the certificate has no `{name}`; it has {', '.join(self.__dict__)}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Certificate) and self.__dict__ == other.__dict__

    def as_dict(self) -> dict[str, Any]:
        """All fields by name."""
        return dict(self.__dict__)

    def __repr__(self) -> str:
        def shown(value: Any) -> str:
            return f"{value:.3g}" if isinstance(value, float) else repr(value)

        return f"Certificate({', '.join(f'{k}={shown(v)}' for k, v in self.__dict__.items())})"
