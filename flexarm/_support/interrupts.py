"""Ctrl-C while a driver works: where it may raise, and where it has to wait.

A driver catches KeyboardInterrupt in its search and returns the best it has.  Two kinds
of code must not be cut off: solvers in C++ that call Python and swallow what it raises,
and the lines in which a result is made.  There Ctrl-C waits, in a handler of SIGINT
that keeps what the handler of the user raises.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

INTERRUPTED = "interrupted"  # begins the messages of such results


class _WithMessage(Protocol):
    @property
    def message(self) -> str: ...


Result = TypeVar("Result", bound=_WithMessage)


def uninterrupted(result: Result) -> Result:
    """Return the result of an inner driver; raise if Ctrl-C ended it early."""
    if result.message.startswith(INTERRUPTED):
        raise KeyboardInterrupt
    return result


class Held:
    """What the user's handler of SIGINT raised while it had to wait."""

    def __init__(self, before: Callable[..., Any] | None) -> None:
        self.before = before
        self.waits = True
        self._kept: BaseException | None = None
        self._raised: BaseException | None = None
        self._again = False
        self._lost = False

    def __call__(self, number: int, frame: Any) -> None:
        """Handle SIGINT: the user's handler decides whether it raises."""
        assert self.before is not None
        try:
            self.before(number, frame)
        except BaseException as error:
            if self.waits:
                self.keep(error)
                return
            # what handles the exception must not be cut off
            self.waits, self._raised, self._lost = True, error, True
            raise

    @property
    def pressed(self) -> bool:
        """Whether Ctrl-C waits."""
        return self._kept is not None

    @property
    def raised(self) -> bool:
        """Whether Ctrl-C has raised where it was allowed to."""
        return isinstance(self._raised, KeyboardInterrupt)

    def owns(self, error: BaseException) -> bool:
        """Whether an exception comes from Ctrl-C, or ends the program."""
        return error is self._raised or not isinstance(error, Exception)

    def keep(self, error: BaseException) -> None:
        """Keep an exception until it may be raised."""
        self._again = self._again or self._kept is not None
        self._kept = self._kept or error

    def take(self) -> bool:
        """Return whether Ctrl-C waited, once; the second one raises at once."""
        if self._kept is None:
            return False
        if self._again or not isinstance(self._kept, KeyboardInterrupt):
            self.deliver()
        self._kept = None
        return True

    def deliver(self) -> None:
        """Raise what waits."""
        error, self._kept, self._again = self._kept, None, False
        if error is not None:
            self.waits, self._raised, self._lost = True, error, True
            raise error

    def arrived(self) -> None:
        """Note that what the handler raised has come up to the driver."""
        self._lost = False

    def find(self) -> None:
        """Raise again what Python lost, in a destructor or a callback of `weakref`."""
        if self._lost and self._raised is not None:
            self._lost = False
            raise self._raised


# of the main thread, which alone runs handlers
_active: Held | None = None


def _mine() -> Held | None:
    on_main = threading.current_thread() is threading.main_thread()
    return _active if on_main else None


@contextmanager
def held() -> Iterator[Held]:
    """Let Ctrl-C wait until the end of the block, or until `allowed` or `take`."""
    global _active
    outer = _mine()
    if outer is not None:
        waits, outer.waits = outer.waits, True
        try:
            yield outer
        finally:
            outer.waits = waits
        if not waits:
            outer.deliver()
        return
    own = Held(_handler())
    if not _installed(own):
        yield own
        return
    _active = own
    try:
        yield own
    finally:
        _active = None
        is_replaced = signal.getsignal(signal.SIGINT) is not own
        if not is_replaced:
            signal.signal(signal.SIGINT, own.before)
    own.deliver()


def _handler() -> Callable[..., Any] | None:
    """Return the handler of SIGINT; None in threads and programs that have none."""
    if threading.current_thread() is not threading.main_thread():
        return None
    before = signal.getsignal(signal.SIGINT)
    return before if callable(before) else None


def _installed(own: Held) -> bool:
    """Install a handler in place of the one before; return whether it is possible."""
    if own.before is None:
        return False
    try:
        signal.signal(signal.SIGINT, own)  # from here on nothing raises
    except ValueError:  # another interpreter of this process
        return False
    return True


@contextmanager
def allowed() -> Iterator[None]:
    """Let Ctrl-C raise inside `held`, also one that waited."""
    own = _mine()
    if own is None:
        yield
        return
    waits, own.waits = own.waits, False
    try:
        own.deliver()
        yield
        own.find()
    except BaseException:
        own.arrived()
        raise
    finally:
        own.waits = waits
