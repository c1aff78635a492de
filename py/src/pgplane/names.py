"""Names: what a surface and a tier may be called, and what their queue is called."""

import re

SURFACE = r"[a-z0-9][a-z0-9_]{0,39}"
TIER = r"-[a-z0-9_-]{1,20}"


def queue_of(surface: str, tier: str = "") -> str:
    """The queue of a surface, in a tier or in none. Raises ValueError: no surface is called so.

    The `-` that a surface's name lacks begins the tier: two surfaces never share a queue.
    """
    if not re.fullmatch(SURFACE, surface):
        raise ValueError(
            f"a surface's name is 1 to 40 lower-case letters, digits and _, no _ first: {surface!r}"
        )
    return f"surface-{surface}{tier}"


def is_queue_of(surface: str, queue: str) -> bool:
    """Whether this is the queue of that surface, in whichever tier."""
    return re.fullmatch(f"{re.escape(queue_of(surface))}({TIER})?", queue) is not None
