"""Faults of the outcome of a call."""

from __future__ import annotations

import dataclasses
import hashlib
import re
import traceback
import types
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import flexarm as fa
from flexarm import errors

from .calls import Call
from .values import Hostile

LENGTH = 400  # letters of a message
JARGON = re.compile(
    r"could not broadcast|setting an array element|object of type '|"
    r"not supported between|has no attribute|'NoneType'|unhashable|cannot reshape|"
    r"LinAlgError|object is not (?:iterable|callable|subscriptable)|truth value|"
    r"(?<!<)ufunc '|unsupported operand|(?:to|from|with) dtype\(|"
    r"invalid literal|could not convert|"
    r"operands could not|must be (?:real number|str|int|a string), not|"
    r"takes \d+ positional|index out of|out of bounds|Cannot cast|cannot cast|"
    r"inhomogeneous|matmul|gufunc|einsum|Traceback|list index|"
    r"can't multiply|too many values|not enough values|NotImplemented\b.*type|"
    r"cannot be interpreted|only 0-dimensional|only length-1|too large to convert|"
    r"result too large|maximum recursion|codec can't|embedded null"
)
NAME_ERRORS = re.compile(
    r"missing \d+ required|unexpected keyword argument|multiple values for|"
    r"takes (?:from )?\d+ .*positional argument|takes no arguments"
)
# what no function should take for real numbers
NO_NUMBERS = {
    "complex", "text", "datetimes", "structured", "masked", "all masked", "1j",
    "complex(nan)", "datetime64", "timedelta64", "NaT", "nan text", "number text",
    "bytes", "bytearray", "long text", "text array", "recarray", "void", "np.ma.masked",
    "with None", "with text", "ragged", "set()", "{1, 2}", "{}", "generator",
}  # fmt: skip
FLEXARM = str(Path(fa.__file__).parent)


@dataclasses.dataclass
class Finding:
    """One thing that is wrong with one call."""

    rank: int  # 0 crash, hang, changed input; 1 unclear error; 2 doubtful
    kind: str
    function: str
    place: str  # file:line in the package
    message: str
    seed: int = 0
    index: int = 0
    call: str = ""
    room: str = ""

    @property
    def key(self) -> tuple[str, ...]:
        return (self.kind, self.place, normal(self.message)[:50])


def normal(text: str) -> str:
    """A message without what differs from call to call."""
    text = re.sub(r" at 0x[0-9a-f]+", "", text)
    text = re.sub(r"'[^']{0,200}'", "'..'", text)
    return re.sub(r"-?\d[\d.e+-]*|nan|inf", "#", text)


# --- errors -----------------------------------------------------------------


def judge_error(call: Call, error: BaseException) -> Finding | None:
    """Faults of the exception of a call."""
    seen: BaseException | None = error
    if isinstance(error, Hostile):
        return None
    name = type(error).__name__
    try:
        text = str(error)
    except BaseException as inner:
        return _found(call, error, 1, "error without text", type(inner).__name__)
    if call.target.kind == "spoilt" and _by_reader(call.target.name, error):
        return None
    if isinstance(error, errors.FlexarmError):
        fault = unclear(text)
        if fault:
            return _found(call, error, 1, f"{name}, {fault}", text)
        if text.endswith("see its docstring"):  # the arguments, but not the reason
            return _found(call, error, 2, "refused without a reason", text)
        return None
    if call.target.name.endswith("__getitem__") and ", expected" in text:
        return None  # its TypeError is that of all containers
    if isinstance(error, MemoryError):
        if text and "\n" not in text:
            return None
        return _found(call, error, 2, "MemoryError without a sentence", text)
    if isinstance(error, OSError) and error.errno and error.filename:
        return _found(call, error, 2, name, text)  # it names the file
    if isinstance(error, TypeError) and NAME_ERRORS.search(text) and _outside(error):
        return None
    if isinstance(error, ImportError) and "pip install" in text:
        return None
    if isinstance(error, AssertionError) and call.target.name.startswith("testing."):
        return None
    while seen is not None:  # what a hostile object raised on the way
        if isinstance(seen, Hostile):
            return _found(call, error, 2, f"{name} of a hostile object", text)
        seen = seen.__cause__ or seen.__context__
    return _found(call, error, 1, name, text)


def names_culprit(call: Call, error: BaseException) -> list[bool]:
    """Whether a refusal has the name of a wild argument; nothing if it is none."""
    spoilt = call.target.kind == "spoilt"  # files, of which a line is named
    if not isinstance(error, errors.FlexarmError) or not call.wild or spoilt:
        return []
    found = re.findall(r"[a-zA-Z0-9]+", str(error))
    words = {_stem(word) for word in found}
    # the name, or what it is made of: "mass of the tip" for tip_mass
    names = [{_stem(part) for part in name.split("_")} for name in call.wild]
    return [any(words >= name for name in names)]


def _stem(word: str) -> str:
    """A word without the ending of its plural: "body 1 is ..." names bodies."""
    return word[:-3] + "y" if word.endswith("ies") else word.rstrip("s")


def unclear(text: str) -> str:
    """Why a message is no clear sentence; empty if it is one."""
    if not text.strip():
        return "empty"
    if "\n" in text or "\r" in text:
        return "several lines"
    if len(text) > LENGTH:
        return f"long ({'very ' if len(text) > 2000 else ''}long message)"
    # what another reader says stands in brackets, what was given before "expected"
    own = re.sub(r"\([^()]*(?:\([^()]*\)[^()]*)*\)", "", text)
    found = JARGON.search(re.sub(r" is [^;]*?, expected", ", expected", own))
    return f"jargon ({found[0]})" if found else ""


def _outside(error: BaseException) -> bool:
    """Whether the call itself failed, not one inside the package."""
    frames = traceback.extract_tb(error.__traceback__)
    inside = [f for f in frames if f.filename.startswith(FLEXARM)]
    return not inside or inside[-1].filename.endswith("_calls/doors.py")


def _by_reader(name: str, error: BaseException) -> bool:
    """Whether the error is that of pickle, or of the C model, which has its own."""
    frames = traceback.extract_tb(error.__traceback__)
    if name == "spoilt pickle":
        return not any(f.filename.startswith(FLEXARM) for f in frames)
    fine = isinstance(error, (ValueError, TypeError)) and not unclear(str(error))
    return name == "spoilt model" and fine


def _found(
    call: Call, error: BaseException, rank: int, kind: str, text: str
) -> Finding:
    frames = traceback.extract_tb(error.__traceback__)
    inside = [f for f in frames if f.filename.startswith(FLEXARM)]
    place = call.target.name  # where the traceback ends at the call
    if inside:
        last = inside[-1]
        place = f"{last.filename.removeprefix(FLEXARM).lstrip('/')}:{last.lineno}"
    shown = text if len(text) < 300 else f"{text[:300]}...[{len(text)}]"
    return Finding(rank, kind, call.target.name, place, shown.replace("\n", "\\n"))


# --- arguments and results ----------------------------------------------------


def fingerprint(value: Any, depth: int = 0) -> Any:
    """Numbers of a value, to see whether it has changed."""
    if depth > 6:
        return "..."
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject or value.size > 10**6:
            return (value.shape, value.dtype.str)
        data = np.ascontiguousarray(value)
        if data.dtype.char in "gG":  # bytes between extended numbers are arbitrary
            return (value.shape, value.dtype.str, repr(data.tolist()))
        digest = hashlib.blake2b(data.tobytes(), digest_size=8)
        return (value.shape, value.dtype.str, digest.hexdigest())
    if isinstance(value, str):
        return re.sub(r" at 0x[0-9a-f]+", "", value)  # of the same object made again
    if isinstance(value, (bool, int, float, complex, bytes, np.generic)):
        return value if isinstance(value, (int, bytes)) else _bits(value)
    if isinstance(value, (list, tuple)):
        if len(value) > 1000:
            return len(value)
        return [fingerprint(v, depth + 1) for v in value]
    if isinstance(value, dict):
        pairs = list(value.items())[:1000]
        return [(str(k)[:80], fingerprint(v, depth + 1)) for k, v in pairs]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [
            (f.name, fingerprint(getattr(value, f.name, None), depth + 1))
            for f in dataclasses.fields(value)
            if f.name != "timings"
        ]
    return type(value).__name__


def _bits(value: Any) -> Any:
    try:
        return np.asarray(value).tobytes()
    except Exception:
        return type(value).__name__


def argument_prints(call: Call) -> dict[str, Any]:
    """Fingerprints of the arguments that must not change."""
    out = call.args.get("out")
    arrays = [a for a in (out if isinstance(out, tuple) else (out,))]
    arrays = [a for a in arrays if isinstance(a, np.ndarray)]
    found = {}
    for name, value in call.args.items():
        if name == "out":
            continue
        if isinstance(value, np.ndarray) and any(
            np.may_share_memory(value, a) for a in arrays
        ):
            continue
        try:
            found[name] = fingerprint(value)
        except BaseException:
            continue  # an object that raises
    return found


def all_finite(value: Any, depth: int = 0) -> bool:
    """Whether no number of the arguments is NaN or infinite."""
    if depth > 5:
        return True
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "fc" or value.size > 10**6:
            return value.size <= 10**6 and value.dtype.kind not in "OmMV"
        return bool(np.isfinite(np.asarray(value)).all())
    if isinstance(value, (float, complex, np.floating)):
        return bool(np.isfinite(value))
    if isinstance(value, (list, tuple)):
        return all(all_finite(v, depth + 1) for v in value[:1000])
    if isinstance(value, dict):
        return all(all_finite(v, depth + 1) for v in value.values())
    return True


def nan_in(value: Any, depth: int = 0, name: str = "result") -> str:
    """Where a result has a NaN; empty if nowhere."""
    if depth > 4:
        return ""
    if isinstance(value, (np.ndarray, float, complex, np.number)):
        array = np.asarray(value)
        bad = array.dtype.kind in "fc" and bool(np.isnan(array).any())
        return name if bad else ""
    if isinstance(value, dict):
        pairs = [(f"{name}[{k!r}]", v) for k, v in value.items()]
    elif isinstance(value, (list, tuple)):
        fields = getattr(value, "_fields", None)
        names = fields or [f"[{i}]" for i in range(len(value))]
        pairs = [(f"{name}.{n}", v) for n, v in zip(names, value, strict=False)]
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        pairs = [
            (f"{name}.{f.name}", getattr(value, f.name, None))
            for f in dataclasses.fields(value)
            # NaN without a path or an orientation, as documented
            if f.name not in ("path_error", "orientation_error")
        ]
    else:
        return ""
    for label, inner in pairs:
        found = nan_in(inner, depth + 1, label)
        if found:
            return found
    return ""


def judge_result(call: Call, result: Any) -> list[Finding]:
    """NaN in the result of finite arguments, or beside success."""
    found = []
    where = nan_in(result)
    if where:
        ok = getattr(result, "success", None)
        if ok is not None and bool(np.all(ok)):
            found.append((1, "success with NaN", where))
        elif ok is None and all(
            all_finite(v) for k, v in call.args.items() if k != "out"
        ):
            found.append((2, "NaN of finite arguments", where))
    if isinstance(result, (types.GeneratorType, types.CoroutineType)):
        found.append((2, "a generator", ""))
    for name in call.numeric:
        if call.wild[name] in NO_NUMBERS:
            found.append((2, f"accepted: {call.wild[name]}", f"as {name}"))
    return [Finding(r, k, call.target.name, "result", m) for r, k, m in found]


def judge_warnings(call: Call, caught: list[warnings.WarningMessage]) -> list[Finding]:
    """Warnings that no sentence of the package explains."""
    found = []
    for w in caught:
        text = str(w.message)
        if w.category.__module__.startswith("flexarm"):
            fault = unclear(text)
            if not fault:
                continue
            kind = f"{w.category.__name__}, {fault}"
        elif w.category is UserWarning and w.filename.startswith(FLEXARM):
            continue
        else:
            kind = f"warning {w.category.__name__}"
        place = f"{w.filename.removeprefix(FLEXARM).lstrip('/')}:{w.lineno}"
        found.append(Finding(2, kind, call.target.name, place, text[:200]))
    return found
