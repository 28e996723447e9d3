"""Descriptions: frozen dataclasses that hold arrays and compare by content."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from .options import Hinting, missing_from_class


class Described(type):
    """Class that answers a missing constructor with the one that was meant."""

    if not TYPE_CHECKING:  # a type checker knows the attributes

        def __getattr__(cls, name: str) -> object:
            raise missing_from_class(cls, name)


class Description(Hinting, metaclass=Described):
    """Equality, hash and replacement by content, for dataclasses that hold arrays."""

    def _content(self) -> tuple[object, ...]:
        def plain(value: object) -> object:
            if isinstance(value, np.ndarray):
                return (value.shape, value.tobytes())
            if isinstance(value, tuple):
                return tuple(plain(item) for item in value)
            return value

        fields = dataclasses.fields(self)  # type: ignore[arg-type]
        return tuple(plain(getattr(self, f.name)) for f in fields if f.init)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._content() == other._content()

    def __hash__(self) -> int:
        return hash((type(self).__name__, self._content()))

    def __reduce__(self) -> tuple[object, ...]:
        # through the constructor, which checks and makes the arrays read-only again
        fields = dataclasses.fields(self)  # type: ignore[arg-type]
        return (type(self), tuple(getattr(self, f.name) for f in fields if f.init))

    def replace(self, **changes: object) -> Any:
        """Return a copy with the named fields changed."""
        return dataclasses.replace(self, **changes)  # type: ignore[type-var]

    @classmethod
    def _of_checked(cls, **values: object) -> Any:
        """Return an object of values as the constructor leaves them, without checks.

        Their arrays become those of the object, read-only.  Other fields have their
        defaults.
        """
        result = cls.__new__(cls)
        for name, value in values.items():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            object.__setattr__(result, name, value)
        return result

    def _set(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)
