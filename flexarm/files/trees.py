"""Descriptions as trees of plain values, for files of other rooms."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ModelError
from ._decode import MAX_ARRAY, Decoder, PlacedError, at_place
from ._encode import Encoder
from ._json import pretty
from ._tree import Tree
from ._types import TYPE

__all__ = ["TYPE", "pretty", "thing_of", "tree_of_description"]


def tree_of_description(thing: object, place: str) -> Any:
    """Return the tree of parts of an arm, with all numbers in it.

    Parameters
    ----------
    thing : object
        Body, joint, drive, loop and so on, a plain value, or a tuple of these.
    place : str
        Its name, for messages.
    """

    def elsewhere(array: np.ndarray) -> str:
        raise ModelError(
            f"{place} has an array of {array.size} numbers, of type {array.dtype}, "
            f"expected finite ones, at most {MAX_ARRAY}"
        )

    return Encoder(elsewhere, inline=MAX_ARRAY).node(thing, place, plain=True)


def thing_of(tree: Tree, place: str) -> Any:
    """Return what a tree of `tree_of_description` describes; lists become tuples."""

    def elsewhere(name: str, inner: str) -> np.ndarray:
        raise at_place(
            inner, f"array {name!r} is not in the file, expected its numbers"
        )

    try:
        return Decoder(elsewhere).value(tree, place, plain=True)
    except PlacedError as problem:
        raise ModelError(str(problem)) from None
