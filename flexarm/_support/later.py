"""Functions and modules that load when they are first used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


class Later:
    """Function of another module as a method of a class, loaded at its first use.

    Parameters
    ----------
    package, module, name : str
        The package, its module and the function in it; a module that begins with a
        point is one beside the package.
    """

    def __init__(self, package: str, module: str, name: str) -> None:
        self._from = package, module, name

    def __set_name__(self, owner: type, name: str) -> None:
        self._place = owner, name

    def place_in(self, owner: type, name: str) -> None:
        """Give another class the same method."""
        later = Later(*self._from)
        later.__set_name__(owner, name)
        setattr(owner, name, later)

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        package, module, name = self._from
        function = getattr(import_module(f".{module}", package), name)
        # from now on the class has the function itself
        setattr(*self._place, function)
        return function.__get__(instance, owner)


def loader(
    package: str, names: Mapping[str, str], missing: Callable[[str], str]
) -> Callable[[str], object]:
    """Return ``__getattr__`` of a package whose modules load at their first use.

    Parameters
    ----------
    package : str
        Name of the package.
    names : mapping of str to str
        Module of each public name; that of a module is its own name.
    missing : callable
        Hint for a name that does not exist.
    """

    def load(name: str) -> object:
        if name not in names:
            text = f"module {package!r} has no attribute {name!r}{missing(name)}"
            raise AttributeError(text)
        module = import_module(f".{names[name]}", package)
        value = module if names[name].split(".")[-1] == name else getattr(module, name)
        setattr(import_module(package), name, value)
        return value

    return load
