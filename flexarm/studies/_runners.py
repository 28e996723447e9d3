"""Computation of the parts of a study: here, on threads, processes, or a cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent import futures
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager
from pickle import PicklingError
from typing import Protocol, TypeGuard

from .._support.checks import short_text
from .._support.optional import required
from ..errors import ArgumentError
from ._task import Part, Task

Span = tuple[int, int]
Done = Iterator[tuple[Span, Part | Exception]]


class Client(Protocol):
    """A client of a Dask cluster."""

    def nthreads(self) -> Mapping[str, int]: ...

    def submit(
        self, run: Callable[..., Part], /, *span: int, pure: bool
    ) -> futures.Future[Part]: ...

    def cancel(self, submitted: list[futures.Future[Part]], /) -> object: ...


def check_place(on: object, workers: int | None) -> int:
    """Return the number of workers."""
    named = isinstance(on, str) and on in ("serial", "threads", "processes")
    if not is_client(on) and not named:
        raise ArgumentError(
            f"on is {short_text(on)}, expected 'serial', 'threads', 'processes' or a "
            "dask.distributed.Client"
        )
    if workers is not None:
        return workers
    if is_client(on):
        return max(1, sum(on.nthreads().values()))
    return 1 if on == "serial" else os.cpu_count() or 1


def is_client(on: object) -> TypeGuard[Client]:
    """Return whether this is a client of a Dask cluster."""
    return hasattr(on, "scheduler_info") and hasattr(on, "submit")


def computed(task: Task, spans: Sequence[Span], on: object, workers: int) -> Done:
    """Parts as they are finished, or the errors in their place."""
    if is_client(on):
        return _on_cluster(task, spans, on)
    if on == "threads":
        return _on_threads(task, spans, workers)
    if on == "processes":
        return _on_processes(task, spans, workers)
    return ((span, task.run(*span)) for span in spans)


def _on_threads(task: Task, spans: Sequence[Span], workers: int) -> Done:
    with _closing(futures.ThreadPoolExecutor(workers), cancel_futures=True) as pool:
        yield from _finished(pool, task.run, spans)


def _finished(
    pool: futures.Executor, run: Callable[..., Part], spans: Sequence[Span]
) -> Done:
    spans_by_future = {}
    for span in spans:
        try:
            spans_by_future[pool.submit(run, *span)] = span
        except BrokenProcessPool as broken:
            yield span, broken
    for future in futures.as_completed(spans_by_future):
        error = future.exception()
        if isinstance(error, ArgumentError):
            raise error
        if isinstance(error, PicklingError):
            raise _not_sent()
        if error is None:
            yield spans_by_future[future], future.result()
        elif isinstance(error, Exception):
            yield spans_by_future[future], error
        else:
            raise error


def _not_sent() -> ArgumentError:
    return ArgumentError(
        "function, arm or results cannot be sent between processes, expected ones "
        "without locks, open files and the like; on='threads' sends nothing"
    )


@contextmanager
def _closing(pool: futures.Executor, **options: bool) -> Iterator[futures.Executor]:
    """Shut down a pool; when a study ends early, without the parts not yet started."""
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=True, **options)
        raise
    pool.shutdown(wait=True)


def _on_processes(task: Task, spans: Sequence[Span], workers: int) -> Done:
    """Pools of loky, which pickle functions of notebooks and unguarded scripts.

    Where a process dies, all parts of its pool are lost.  Those that were running, the
    first ones, are tried again one after the other, which shows the part that kills a
    process; then a new pool continues with the others.
    """
    left = list(spans)
    while left:
        lost = []
        with _pool(workers) as pool:
            for span, part in _finished(pool, task.run, left):
                if isinstance(part, BrokenProcessPool):
                    lost.append(span)
                else:
                    yield span, part
        lost.sort()
        yield from _one_by_one(task, lost[:workers])
        left = lost[workers:]


def _one_by_one(task: Task, spans: Sequence[Span]) -> Done:
    left = list(spans)
    while left:
        with _pool(1) as pool:
            while left:
                done = next(_finished(pool, task.run, [left.pop(0)]))
                yield done
                if isinstance(done[1], BrokenProcessPool):
                    break


def _pool(workers: int) -> AbstractContextManager[futures.Executor]:
    loky = required("loky", "a study on processes", extra="studies")
    return _closing(loky.ProcessPoolExecutor(workers), kill_workers=True)


def _on_cluster(task: Task, spans: Sequence[Span], client: Client) -> Done:
    """Tasks of Dask, which computes those of a lost worker on another one."""
    distributed = required("distributed", "a study on a cluster", extra="studies")
    try:
        submitted = {client.submit(task.run, *span, pure=False): span for span in spans}
    except (PicklingError, TypeError):
        raise _not_sent() from None
    try:
        for future in distributed.as_completed(submitted):
            error = future.exception() if future.status == "error" else None
            if isinstance(error, ArgumentError):
                raise error
            if future.status == "cancelled":
                error = RuntimeError("the cluster cancelled this part")
            span = submitted.pop(future)
            yield span, error or future.result()
            future.release()  # the cluster need not keep the result
    finally:
        client.cancel(list(submitted))
