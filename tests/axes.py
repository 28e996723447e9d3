"""Axes of a figure: what they must say, in the course and on the pages."""

from __future__ import annotations

from typing import Any


def shared(ax: Any, name: str) -> list[str]:
    """Labels of an axis and of those that share it, of which one is drawn."""
    group = getattr(ax, f"get_shared_{name}_axes")()
    return [getattr(other, f"get_{name}label")() for other in group.get_siblings(ax)]


def check_axes(ax: Any) -> None:
    """Labels with units in parentheses; a legend for several lines with names."""
    if not ax.axison:
        return
    if ax.get_label() == "<colorbar>":
        label = ax.get_ylabel() or ax.get_xlabel()
        assert "(" in label, f"the color bar has the label {label!r}, without a unit"
        return
    for name in ("x", "y", "z") if hasattr(ax, "get_zlabel") else ("x", "y"):
        labels = [ax.get_zlabel()] if name == "z" else shared(ax, name)
        assert any("(" in label for label in labels), (
            f"{name} of the axes {ax.get_title()!r} is labeled {labels}, expected a "
            "label with a unit in parentheses"
        )
    named = [line for line in ax.get_lines() if not line.get_label().startswith("_")]
    if len(named) > 1:
        legends = [ax.get_legend(), *ax.figure.legends]
        legends += [other.get_legend() for other in ax.figure.axes]
        assert any(legends), f"the axes {ax.get_title()!r} have no legend"
