"""Optional packages: imported where used, with advice if they are missing."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def required(
    module: str,
    what: str,
    *,
    package: str | None = None,
    extra: str | None = None,
    instead: str = "",
) -> Any:
    """Import a module of an optional package, or raise with the line that installs it.

    Parameters
    ----------
    module : str
        Name of the module, such as ``"tqdm.auto"``.
    what : str
        Name of the function or option that needs it, for the message.
    package : str, optional
        Name of the package; by default the first part of the name of the module.
    extra : str, optional
        Extra of flexarm that installs it; by default the name of the package.
    instead : str, optional
        Way that needs it not, for the message.

    Returns
    -------
    module : module

    Raises
    ------
    ImportError
        If it is missing; the message has the line that installs it.

    Examples
    --------
    >>> required("no_such_module", "this example", extra="studies")
    Traceback (most recent call last):
        ...
    ImportError: this example needs no_such_module, which is missing: ...
    """
    try:
        return import_module(module)
    except ImportError:
        name = package or module.partition(".")[0]
        other = f"; or {instead}" if instead else ""
        raise ImportError(
            f"{what} needs {name}, which is missing: "
            f'python3 -m pip install "flexarm[{extra or name}]"{other}'
        ) from None
