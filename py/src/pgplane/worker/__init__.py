"""The worker: claims a queue's jobs, runs their handlers, settles them.

It decides nothing about retries, backoff or poison: it says what happened, the ledger draws the
consequence.
"""
