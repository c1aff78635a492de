"""`python -m flights.demo`: exit status 0 when every answer came and was right, else 1."""

from __future__ import annotations

import asyncio
import os
import signal
import sys

from flights.demo import configuration
from flights.demo.story import tell
from flights.demo.terminal import Terminal
from flights.demo.trouble import DemoError

_INTERRUPTED = 130


def main() -> int:
    """Run the demo; its exit status."""
    terminal = Terminal()
    try:
        return 0 if asyncio.run(_until_stopped(configuration.read(), terminal)) else 1
    except DemoError as trouble:
        terminal.settle(f"\n{trouble}")
        return 1
    except asyncio.CancelledError:
        terminal.settle("\nStopped before the end.")
        return _INTERRUPTED
    except BrokenPipeError:
        # Nobody reads us any more, and Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


async def _until_stopped(config: configuration.Configuration, terminal: Terminal) -> bool:
    """The story; Ctrl-C and SIGTERM cancel it, and so everything it started is stopped in order."""
    task = asyncio.current_task()
    assert task is not None  # a coroutine always has one
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    return await tell(config, terminal)


if __name__ == "__main__":
    sys.exit(main())
