"""Manifests: what a surface's workers say that it answers, and what the edge makes of it.

`manifests` keeps copies of them. Params are checked: `checks` asks a process of its own, `checker`,
which holds them against a schema as `params` says, and tells faults in the words of `wording`. The
surface is described: `openapi` makes a document of `addresses`, the `shapes` of their bodies, and
the schemas of params, whose parts `lifting` makes components.
"""
