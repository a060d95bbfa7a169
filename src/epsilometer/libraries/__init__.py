"""Other people's code under the same audits, from its outputs alone; each library in an environment of its own."""
