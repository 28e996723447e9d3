"""Forces and moments inside links."""

from ._link_loads import LinkLoads, link_loads

__all__ = ["LinkLoads", "link_loads"]
