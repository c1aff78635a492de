"""Manifests: what a surface's workers say that it answers, kept as copies by `manifests`.

The surface is described: `openapi` makes a document of `addresses`, the `shapes` of their bodies,
and the schemas of params, whose parts `lifting` makes components.
"""
