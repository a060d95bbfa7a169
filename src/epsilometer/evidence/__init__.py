"""What the auditors and the attacks found, as typed rows of tables, and the verdicts over all of them."""
