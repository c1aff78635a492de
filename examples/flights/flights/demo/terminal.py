"""What a person watches while the demo works: a moving line on a terminal, else plain lines."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Self, TextIO


class Terminal:
    """Writes the story: headings, steps with their duration, tables.

    On a terminal a running step is one line that is drawn again and again; anywhere else each
    step is written once, when it is done.
    """

    def __init__(self, out: TextIO | None = None) -> None:
        self._out = sys.stdout if out is None else out
        self._live = self._out.isatty()

    def line(self, text: str = "") -> None:
        """One line."""
        self._out.write(f"{text}\n")
        self._out.flush()

    def heading(self, text: str) -> None:
        """A line that begins a part."""
        self.line(f"\n{text}")

    def step(self, text: str) -> Step:
        """A step that takes a while: `with terminal.step("…") as step: step.at(0.4)`."""
        return Step(self, text)

    def draw(self, text: str) -> None:
        """Show a passing state, where the output is a terminal."""
        if self._live:
            self._out.write(f"\r\x1b[K{text}")
            self._out.flush()

    def settle(self, text: str) -> None:
        """Replace the passing state by a line that stays."""
        if self._live:
            self._out.write("\r\x1b[K")
        self.line(text)


class Step:
    """One step; says how far it is, and how long it took in the end."""

    def __init__(self, terminal: Terminal, text: str) -> None:
        self._terminal = terminal
        self._text = text
        self._outcome = ""
        self._since = time.monotonic()

    def at(self, part: float, of: str = "") -> None:
        """How much is done, 0 to 1, and of what."""
        bar = "█" * round(part * 20)
        self._terminal.draw(f"  … {self._text}  {bar:░<20} {part:4.0%}  {of}")

    def outcome(self, text: str) -> None:
        """What the step's last line adds."""
        self._outcome = text

    def __enter__(self) -> Self:
        self._terminal.draw(f"  … {self._text}")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        took = f"{time.monotonic() - self._since:.1f} s"
        mark = "✓" if error is None else "✗"
        words = [f"  {mark} {self._text}", self._outcome, f"({took})"]
        self._terminal.settle(" ".join(filter(None, words)))
