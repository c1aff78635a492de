"""The demo: the whole plane on one machine, asked real questions and checked."""
