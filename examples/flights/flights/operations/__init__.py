"""The handlers, by noun; importing `flights.surface` registers them all."""
