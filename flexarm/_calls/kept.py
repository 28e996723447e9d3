"""Arguments of constructors in the form in which objects keep them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import ArgumentError
from .declared import Kind, OneOf


class Kept(Kind):
    """What a check accepts, which returns it in the form that an object keeps.

    Parameters
    ----------
    check : callable
        ``check(what, value, *rest)`` returns the value, or raises an error whose
        sentence begins with `what`.
    *rest : object
        More arguments of the check, such as a unit or a shape.
    """

    def __init__(self, check: Callable[..., Any], *rest: object) -> None:
        self.check, self.rest = check, rest

    def kept(self, what: str, value: object) -> Any:
        """Return a value as it is kept, or raise."""
        return self.check(what, value, *self.rest)

    def fits(self, value: object) -> bool:
        return not self.refusal("it", value)

    def refusal(self, name: str, value: object) -> str:
        try:
            self.kept(name, value)
        except ArgumentError as error:
            return str(error)
        return ""


def check_of(kind: Kind | None) -> Kept | None:
    """The check of a kind, or of that of its alternatives that is not None."""
    if isinstance(kind, OneOf):
        found = [k for k in kind.kinds if k.words != "None"]
        kind = found[0] if len(found) == 1 else None
    return kind if isinstance(kind, Kept) else None
