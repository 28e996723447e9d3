"""One call for a study: its points, its parts, its results."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import ceil
from os import PathLike
from typing import TYPE_CHECKING, Annotated, NamedTuple

from .._calls.declared import Instance, Text, Whole
from .._calls.doors import checked
from .._support.checks import short_text
from .._support.optional import required
from .._support.warn import warn
from ..arm import Arm
from ..errors import ArgumentError, DeflectionWarning, StudyWarning
from ..simulation.run import progress_bar
from ..stacks import ArmStack
from ._dataset import Coordinates, Output, Results, coordinates_of, outputs_of, part_of
from ._points import Points, points_of
from ._runners import Span, check_place, computed
from ._store import Store, store_at
from ._study import LABELS, MENDED, Study, study_of
from ._task import FAILED, OK, Task, accepted

if TYPE_CHECKING:
    from xarray import Dataset

# Parts of a study by default, each the loss by an interrupt or a dead worker.
_DEFAULT_PARTS = 100
# Points of one call of a vectorized function, the least and the most.
MIN_CALL, MAX_CALL = 256, 16384


@checked
def sweep(
    function: Annotated[
        Callable[..., object], Instance(Callable, hint="an arm is given as arm")
    ],
    grid: Mapping[str, object] | None = None,
    *,
    draws: Mapping[str, object] | None = None,
    n_draws: Annotated[int, Whole(least=1)] | None = None,
    seed: Annotated[int, Whole(least=0)] | None = None,
    arm: Arm | ArmStack | Callable[..., Arm] | None = None,
    vectorized: bool | str | Iterable[str] = False,
    outputs: str | Mapping[str, object] | Iterable[str] | None = None,
    coords: Mapping[str, object] | None = None,
    on: object = "serial",
    workers: Annotated[int, Whole(least=1)] | None = None,
    chunk: Annotated[int, Whole(least=1)] | None = None,
    path: str | PathLike[str] | None = None,
    retry_failed: bool = False,
    key: Annotated[str, Text("a text, another one for each study")] | None = None,
    progress: bool | None = None,
) -> Dataset:
    """Compute a function at all points of a grid and of random draws.

    Parameters
    ----------
    function : callable
        Called with the parameters of a point by name, after `arm` if that is given.
        Returns a number, text or an array; several of them in a mapping, NamedTuple or
        dataclass; or any object with the attributes that `outputs` names, such as a
        `Trajectory`.  Shapes are the same at all points.
    grid : mapping of str to array_like, or (array_like, str)
        Values of parameters along one axis each, with their unit: numbers, text, rows
        of numbers such as poses ``(n, nq)``, or a mapping of labels to objects such as
        controllers.  All combinations are computed.
    draws : mapping of str to distribution, array_like, or (either, str)
        Random parameters, all along one more axis, ``draw``: a distribution of
        `scipy.stats` such as ``scipy.stats.norm(1.0, 0.1)``, samples (n,) or (n, k), or
        ``"seed"``, whole numbers for noise that `function` makes itself.  Each point of
        the grid has the same draws, so that differences along it are not random.
    n_draws : int, optional
        Number of draws; by default that of the samples.
    seed : int, optional
        Of the draws, which depend on it and their name alone, not on `chunk`, `on` and
        other parameters.  By default a random one, which ``ds.attrs["seed"]`` has.
    arm : Arm, ArmStack, or callable, optional
        First argument of `function`: an arm, or a function that makes one of those
        parameters that it has as arguments, such as `flexarm.library.planar_chain`.
    vectorized : bool or sequence of str
        True if `function` takes arrays with an entry for each of many points, and
        returns arrays with the same first axis; it then has, of an `arm` that is made,
        a stack with an arm for each point.  Names of parameters: one call for all
        combinations of their values, and numbers for the others.
    outputs : str, sequence of str, or mapping, optional
        Names of results to keep, or a mapping to their unit, or to their own axes and
        unit: ``{"tip": (("time", "xyz"), "m"), "energy": "J"}``.
    coords : mapping of str to array_like, or (array_like, str), optional
        Values along these axes: ``{"time": (t, "s")}``.
    on : {"serial", "threads", "processes"} or dask.distributed.Client
        Place of the computation.  Threads are fast where NumPy or flexarm compute on
        arrays, without the lock of Python; processes take any function.  On a cluster,
        parts of a lost worker are computed again on another one.
    workers : int, optional
        Number of threads or processes; by default that of the cores.
    chunk : int, optional
        Points of a part, which is sent to a worker, and written, at a time.
    path : path-like, optional
        File of the results, ``.nc`` (netCDF) or ``.zarr``.  Parts are written beside it
        as they are finished.  The same call continues where an earlier one ended, and
        returns the results if none is left to compute.  One call at a time has a path:
        a second one is refused while the first computes.
    retry_failed : bool
        Compute those points of `path` again that failed in an earlier call, also of a
        study that is done; good ones are kept.  `function` and `arm` may then be
        corrected ones, with a warning.  By default failed points are not computed
        again.
    key : str, optional
        Name of the study in `path`, another one for each: it takes the place of the
        content of `function`, and of objects without any, such as a lock or an open
        file.  For functions that change while they run, such as counters.
    progress : bool, optional
        Progress bar (tqdm); by default for studies of more than two seconds.

    Returns
    -------
    ds : xarray.Dataset
        The results, with an axis for each parameter of the grid and one for the draws,
        then their own; NaN where a result is missing.  ``ds.status`` is 0, 1 where the
        function failed and 2 where it was not called, ``ds.message`` is the reason.  If
        no point has a result, `outputs` are there as NaN, each that has no axes of its
        own or only those of `coords`.

    Raises
    ------
    ArgumentError
        If `function` does not take a parameter; if `path` holds another study, with
        what is different in it, is damaged, in use by another call or cannot be
        written; or if `function`, `arm` or a value has no content to compare, and
        `key` is not given.
    ImportError
        If xarray, or a package for `on` or `path`, is missing.

    Warns
    -----
    StudyWarning
        If points failed: their number, the first with the reason, and other kinds of
        errors; if Ctrl-C ended the study: the finished points are returned; if
        `retry_failed` continues with another function or arm; if parts of `path` were
        damaged, and are computed again; or if parts or results cannot be written, as on
        a full disk: the study goes on, and the results are returned.
    DeflectionWarning
        If links bend too far at some points, once for all: ``ds.message`` has the
        sentence of each, or of a call for many points at the first of these.

    See Also
    --------
    flexarm.stack : many arms in one call, without a study.
    flexarm.robustness : linear models over ranges.

    Notes
    -----
    A vectorized call that fails is halved until the points that fail are alone; one for
    all values of some parameters fails as a whole.

    A study in `path` is identified by content: code of `function` and `arm`, with their
    defaults, objects, values of enclosing functions and those globals that they name,
    and in turn what these depend on; values of parameters, also objects; outputs, seed,
    `vectorized`, and the versions of flexarm and, for code, of Python.  Functions and
    classes of installed packages, and what a function imports when it runs, count by
    name.  The attribute ``study`` of the file is a record of it, and ``digest`` has the
    SHA-256 of all its bytes, which is compared before it is opened.

    A part is on the disk when the next one is computed: a killed process or a loss of
    power costs the parts that were computed at that time.  The lock of a path, a file
    ``.lock`` beside it, ends with its process.

    BLAS takes all cores in each process: set ``OPENBLAS_NUM_THREADS=1`` before.

    Examples
    --------
    Frequencies of pendulums, which do not depend on the mass, in Hz:

    >>> import flexarm as fa
    >>> ds = fa.studies.sweep(
    ...     lambda arm: fa.natural_frequencies(arm, [-1.5707963])[0],
    ...     {"mass": ([1.0, 4.0], "kg"), "com": ([0.25, 1.0], "m")},
    ...     arm=fa.library.pendulum,
    ...     outputs={"frequency": "Hz"},
    ... )
    >>> ds.frequency.sel(mass=4.0).values
    array([0.99..., 0.49...])

    A thousand poses of each in one call, on a stack of arms:

    >>> import scipy
    >>> ds = fa.studies.sweep(
    ...     lambda arm, q: {"torque": fa.gravity_forces(arm, q[:, None])[:, 0]},
    ...     {"mass": ([1.0, 4.0], "kg")},
    ...     draws={"q": (scipy.stats.uniform(-3.0, 6.0), "rad")},
    ...     n_draws=1000,
    ...     seed=1,
    ...     arm=fa.library.pendulum,
    ...     vectorized=True,
    ... )
    >>> ratio = ds.torque.sel(mass=4.0) / ds.torque.sel(mass=1.0)
    >>> dict(ratio.sizes), float(ratio.min()), float(ratio.max())
    ({'draw': 1000}, 4.0, 4.0)
    """
    # arguments
    required("xarray", "a study", extra="studies")
    count = check_place(on, workers)
    wanted, known = outputs_of(outputs), coordinates_of(coords)
    store = None if path is None else store_at(path)
    if retry_failed and store is None:
        raise ArgumentError(
            "retry_failed is True without path, expected the path of an earlier call"
        )
    if key is not None and (not key or store is None):
        raise ArgumentError(
            f"key is {short_text(key)}{'' if store else ' without path'}, expected a "
            "text that is another one for each study, and the path of one"
        )

    # the study, and whether it continues an earlier one
    def plan(before: Study | None) -> Plan:
        number = _seed(seed, before)
        points = points_of(grid, draws, n_draws, number, vectorized)
        task = _task(function, arm, points, vectorized is True, tuple(wanted))
        study = None
        if store:
            labels, options = (wanted, known), (number, vectorized, key)
            name = "" if wanted else task.name
            study = study_of(function, arm, points, labels, options, name)
        return Plan(task, study, number, wanted, known)

    where = _Where(on, count, chunk, progress)
    if store is None:
        now = plan(None)
        dataset, points, _ = _computed(now, None, where, Results(now.task.points))
        return _with_warning(dataset, points)
    if there := _there(store.seen(), plan, retry_failed, store):
        return _with_warning(*there)
    with store.locked():
        return _with_warning(*_continued(store, plan, retry_failed, where))


@dataclass(frozen=True)
class Plan:
    """A study before it is computed: its work, its identity, and its labels."""

    task: Task
    study: Study | None
    seed: int
    outputs: Mapping[str, Output]
    coordinates: Coordinates

    def check(self, results: Results) -> None:
        """Refuse axes and names that do not fit the results."""
        results.check(self.outputs, self.coordinates)

    def dataset(self, results: Results) -> Dataset:
        """Return the results as an `xarray.Dataset`."""
        title = self.task.name
        return results.dataset(self.outputs, self.coordinates, self.seed, title)


class _Where(NamedTuple):
    """Place of the computation."""

    on: object
    workers: int
    chunk: int | None
    progress: bool | None


Planned = Callable[[Study | None], Plan]


def _there(
    found: tuple[Study, Dataset] | None, plan: Planned, retry: bool, store: Store
) -> tuple[Dataset, Points] | None:
    """Results of a study that is done, if none are left to compute."""
    if found is None:
        return None
    before, dataset = found
    now = plan(before)
    assert now.study is not None
    if before.differences(now.study):
        if retry:
            return None
        raise _another(store, before, now.study)
    if retry and (dataset.status == FAILED).any():
        return None
    return dataset, now.task.points


def _continued(
    store: Store, plan: Planned, retry: bool, where: _Where
) -> tuple[Dataset, Points]:
    """Compute what earlier calls have left of a study, and write the results."""
    # what is there, of this study or of another one
    kept, finished = store.kept(), store.finished()
    if not kept and (done := _there(finished, plan, retry, store)):
        return done  # a call that has just ended has computed all
    there = [found.study for found in kept] + ([finished[0]] if finished else [])
    now = plan(there[0] if there else None)
    study, points = now.study, now.task.points
    assert study is not None
    others = {x.hash: x for x in there if x.hash != study.hash}
    own = {study.hash, *(others if retry else ())}
    if others:
        _check_others(store, others.values(), study, own.isdisjoint(map(_hash, there)))
        if retry:
            _warn_of_mended(store, others.values(), study)

    # points that are computed already
    results = Results(points)
    if finished and finished[0].hash in own:
        results.add(part_of(finished[1], points))
    for found in kept:
        if found.study.hash in own:
            results.add(found.part)
            store.own.add(found.path)
    if retry:
        if others and (done_before := results.done()):
            store.keep(study, done_before)
        results.try_again()
    dataset, points, whole = _computed(now, store, where, results)
    if whole:
        store.finish(study, dataset)
    return dataset, points


def _hash(study: Study) -> str:
    return study.hash


def _seed(seed: int | None, before: Study | None) -> int:
    if seed is None:
        return secrets.randbits(31) if before is None else before.seed
    return seed


def _task(
    function: Callable[..., object],
    arm: Arm | ArmStack | Callable[..., Arm] | None,
    points: Points,
    vectorized: bool,
    wanted: tuple[str, ...],
) -> Task:
    """The function, its parameters, and those of the arm."""
    # parameters of the arm first
    names = [p.name for p in points.parameters]
    own, any_own, needed = accepted(function)
    makes: tuple[set[str], bool, set[str]] = (
        accepted(arm) if callable(arm) else (set(), False, set())
    )
    of_arm = tuple(n for n in names if n in makes[0])
    of_function = [n for n in names if n in own]
    for name in names:
        if name in of_arm or name in of_function:
            continue
        if makes[1]:
            of_arm += (name,)
        elif any_own:
            of_function.append(name)
        else:
            who = (
                "neither function nor arm has" if callable(arm) else "function has not"
            )
            raise ArgumentError(
                f"{who} the argument {name}, expected one for each parameter; "
                f"function takes {', '.join(sorted(own)) or 'none'}"
            )

    # arguments without a parameter; the first of a function may be the arm
    for what, has, got in (
        ("arm", makes[2], of_arm),
        ("function", needed, of_function),
    ):
        lacks = sorted(has - set(got))
        free = 1 if what == "function" and arm is not None else 0
        if len(lacks) > free:
            raise ArgumentError(
                f"{what} needs {', '.join(lacks)}, expected these in grid or draws, or "
                "given to it by functools.partial"
            )
    name = getattr(function, "__name__", "result")
    name = name if name.isidentifier() else "result"
    return Task(
        function, arm, of_arm, tuple(of_function), points, vectorized, wanted, name
    )


def _check_others(
    store: Store, others: Iterable[Study], study: Study, alone: bool
) -> None:
    """Refuse to continue another study, or one whose function or arm is another one.

    The latter are left beside a study whose function was mended, if it is not `alone`.
    """
    for before in others:
        if alone or set(before.differences(study)) - {LABELS, *MENDED}:
            raise _another(store, before, study)


def _warn_of_mended(store: Store, others: Iterable[Study], study: Study) -> None:
    different = dict.fromkeys(
        name for x in others for name in x.differences(study) if name in MENDED
    )
    verb = "are" if len(different) > 1 else "is"
    warn(
        f"{' and '.join(different)} {verb} not the one that computed the points kept "
        f"in {str(store.path)!r}, only those that failed are computed with it",
        StudyWarning,
    )


def _another(store: Store, before: Study, study: Study) -> ArgumentError:
    names = before.differences(study)
    hint = "; key= names a function that changes as it runs"
    return ArgumentError(
        f"path {str(store.path)!r} holds another study, of which "
        f"{before.words(study, names)}, expected the same study or a new name"
        f"{hint if set(names) <= set(MENDED) else ''}"
    )


def _spans(
    results: Results, chunk: int | None, workers: int, vectorized: bool
) -> list[Span]:
    """Parts of the points that are left, of whole calls."""
    points = results.points
    if chunk is None:
        chunk = ceil(points.count / max(_DEFAULT_PARTS, 4 * workers))
        if vectorized:
            chunk = min(max(chunk, MIN_CALL), MAX_CALL)
    size = points.block * ceil(chunk / points.block)
    return [
        (first, min(first + size, stop))
        for start, stop in results.left
        for first in range(start, stop, size)
    ]


def _computed(
    plan: Plan, store: Store | None, where: _Where, results: Results
) -> tuple[Dataset, Points, bool]:
    """Compute and keep parts; return the dataset, and whether all are finished."""
    task, points = plan.task, plan.task.points
    spans = _spans(results, where.chunk, where.workers, task.vectorized)

    # a bar from the points that are computed already
    bar = progress_bar(points.count, where.progress, "point")
    if bar is not None:
        bar.update(points.count - sum(stop - start for start, stop in spans))

    # parts as they are finished
    running = computed(task, spans, where.on, where.workers)
    whole = True
    try:
        for (start, stop), part in running:
            if isinstance(part, Exception):
                why = " ".join(str(part).split())
                results.lost(start, stop, f"{type(part).__name__}: {why}")
            else:
                results.add(part)
                if store and plan.study:
                    store.keep(plan.study, [part])
                plan.check(results)
            if bar is not None:
                bar.update(stop - start)
    except KeyboardInterrupt:
        whole = False
        left = sum(stop - start for start, stop in results.left)
        goes_on = "; the same call goes on" if store else ""
        warn(
            f"the study was interrupted, {left} of {points.count} points are not "
            f"computed{goes_on}",
            StudyWarning,
        )
    finally:
        close = getattr(running, "close", None)
        if close is not None:
            close()
        if bar is not None:
            bar.close()
    return plan.dataset(results), points, whole


def _with_warning(ds: Dataset, points: Points) -> Dataset:
    """Return the results, with warnings of points that failed or are doubtful."""
    status = ds.status.transpose(*points.sizes).values.reshape(-1)
    failed = (status == FAILED).nonzero()[0]
    if len(failed):
        messages = ds.message.transpose(*points.sizes).values.reshape(-1)[failed]
        how_many = "all" if len(failed) == points.count > 1 else f"{len(failed)} of"
        warn(
            f"{how_many} {points.count} points failed, the first at "
            f"{points.description(int(failed[0]))}: {messages[0]}{_kinds(messages)}; "
            "see status and message of the result",
            StudyWarning,
        )
    messages = ds.message.transpose(*points.sizes).values.reshape(-1)
    doubted = ((status == OK) & (messages != "")).nonzero()[0]
    if len(doubted):
        first = points.description(int(doubted[0]))
        warn(
            f"at {len(doubted)} of {points.count} points, the first at {first}: "
            f"{messages[doubted[0]]}; see message of the result",
            DeflectionWarning,
        )
    return ds


def _kinds(messages: Iterable[str]) -> str:
    """Counts of the kinds of errors, if there are several."""
    heads = [str(message).partition(":")[0] for message in messages]
    kinds = Counter(h if h.isidentifier() else "results that differ" for h in heads)
    counts = ", ".join(f"{n} with {kind}" for kind, n in kinds.most_common(4))
    more = len(kinds) - 4
    counts += f" and {more} more kinds" if more > 0 else ""
    return f" (in all {counts})" if len(kinds) > 1 else ""
