"""The ledger: every claim of every source, decided by evidence. One module of checks for each source."""
