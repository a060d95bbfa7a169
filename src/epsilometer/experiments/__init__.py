"""The papers' protocols: tuning, table of test errors, learning curve, epsilon curve, and the epsilon behind a table."""
