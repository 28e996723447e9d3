"""What pages and cells of notebooks must not show."""

from __future__ import annotations

import re

# what a browser fetches by itself
FETCHED = re.compile(
    r"<(?:script|img|iframe|link)[^>]*(?:src|href)=\"(https?:[^\"]*)\""
)
# an object without words of its own
OBJECT = re.compile(r"<[\w.]+ (?:object )?at 0x[0-9a-f]+")
