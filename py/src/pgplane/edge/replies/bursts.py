"""Bursts: what comes alone is served at once; the more come after it, the longer they gather."""

GATHER_SECONDS = 0.005
MAX_GATHER_SECONDS = 0.05


def pause(count: int, gathered: bool) -> float:
    """Seconds to rest behind `count` that were served together: for each of them where they had
    gathered, else for one."""
    return min(GATHER_SECONDS * (count if gathered else 1), MAX_GATHER_SECONDS)
