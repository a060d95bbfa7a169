"""IBM's diffprivlib: a lock file of its environment, a driver that runs inside it, and the calls that are audited."""
