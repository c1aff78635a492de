"""`python -m flights.demo`: exit status 0 when every answer came and was right, else 1."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable

from flights.demo.terminal import Terminal
from flights.demo.trouble import DemoError

_INTERRUPTED = 130


def main() -> int:
    """Run the demo; its exit status."""
    terminal = Terminal()
    try:
        return 0 if asyncio.run(_until_stopped(_story(terminal))) else 1
    except DemoError as trouble:
        terminal.settle(f"\n{trouble}")
        return 1
    except BrokenPipeError:
        # Nobody reads us any more, and Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        if error.filename is None:
            raise
        terminal.settle(f"\n{error.filename}: {error.strerror}")
        return 1
    except asyncio.CancelledError:
        terminal.settle("\nStopped before the end.")
        return _INTERRUPTED


def _story(terminal: Terminal) -> Awaitable[bool]:
    """The whole demo; imported here, so that a module that is missing can be named."""
    try:
        from flights.demo import configuration
        from flights.demo.story import tell
    except ModuleNotFoundError as missing:
        raise DemoError(
            f"the Python module {missing.name} is not installed: run `make install`"
        ) from missing
    return tell(configuration.read(), terminal)


async def _until_stopped(story: Awaitable[bool]) -> bool:
    """Ctrl-C and SIGTERM cancel the story, and so everything it started is stopped in order."""
    task = asyncio.current_task()
    assert task is not None  # a coroutine always has one
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    return await story


if __name__ == "__main__":
    sys.exit(main())
