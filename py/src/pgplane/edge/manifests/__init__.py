"""Manifests: what a surface's workers say that it answers, and what the edge makes of it."""
