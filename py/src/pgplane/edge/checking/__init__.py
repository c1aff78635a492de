"""Checking: params against the JSON Schemas that workers have registered.

`checks` asks a process of its own, `checker`, which holds them against a schema as `params` says,
and tells faults in the words of `wording`.
"""
