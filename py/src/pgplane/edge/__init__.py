"""The edge: HTTP and server-sent events in front of the ledger.

`server` serves the `app`, whose `routes` work with the parts that `edge` holds. `access` says who
comes, `naming` and `questions` what for, `admission` and `turns` whether there is room, `manifests`
what a surface takes, and `checking` whether that is it; `replies` brings answers to those who wait,
`blobs` bytes, and `problems` refusals.
"""
