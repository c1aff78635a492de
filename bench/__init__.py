"""What the ledger costs, measured beside a floor and three other queues: see README.md."""
