"""Ctrl-C while a driver works: where it may raise, and where it has to wait.

A driver catches KeyboardInterrupt in its search and returns the best it has.  Two kinds
of code must not be cut off: solvers in C++ that call Python and swallow what it raises,
and the lines in which a result is made.  There Ctrl-C waits, in a handler of SIGINT
that keeps what the handler of the user raises.  So do other signals whose handlers may
raise, such as alarms and SIGTERM: a solver in C++ would take what they raise for
numbers that it cannot have, and go on.
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


# signals whose handlers may raise, as far as the system has them
_NAMES = ("SIGINT", "SIGTERM", "SIGALRM", "SIGVTALRM", "SIGPROF", "SIGHUP")
_SIGNALS = tuple(
    getattr(signal, name)
    for name in (*_NAMES, "SIGUSR1", "SIGUSR2", "SIGBREAK")
    if hasattr(signal, name)
)
Handler = Callable[..., Any]

Result = TypeVar("Result", bound=_WithMessage)


def uninterrupted(result: Result) -> Result:
    """Return the result of an inner driver; raise if Ctrl-C ended it early."""
    if result.message.startswith(INTERRUPTED):
        raise KeyboardInterrupt
    return result


class Held:
    """Exceptions of the user's handlers that had to wait, by their signals."""

    def __init__(self, before: dict[int, Handler]) -> None:
        self.before = before
        self.waits = True
        self.over = False  # it handles nothing any more
        self._kept: BaseException | None = None
        self._raised: BaseException | None = None
        self._again = False
        self._lost = False

    def __call__(self, number: int, frame: object) -> None:
        """Handle a signal: the user's handler decides whether it raises."""
        if self.over:
            self.before[number](number, frame)
            return
        try:
            self.before[number](number, frame)
        except BaseException as error:
            if error is self._raised:  # of another signal, which this handler raised
                raise
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


# State of the main thread, which alone runs handlers.
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
    own = Held(_handlers())
    if not own.before:
        yield own
        return
    _active = own
    try:
        try:
            for number in own.before:
                signal.signal(number, own)  # from here on nothing raises
        except ValueError:  # another interpreter of this process
            own.over = True
        yield own
    finally:
        _active = None
        try:
            for number, before in own.before.items():
                if signal.getsignal(number) is own:  # nobody has replaced it
                    signal.signal(number, before)
        finally:
            own.over = True
    own.deliver()


def _handlers() -> dict[int, Handler]:
    """Handlers in Python, of which threads and some programs have none."""
    if threading.current_thread() is not threading.main_thread():
        return {}
    found = {number: signal.getsignal(number) for number in _SIGNALS}
    return {number: before for number, before in found.items() if callable(before)}


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
