"""The client database: five tables of real flights that belong to somebody else."""
