"""The mechanisms, one file for each family; `catalogue` finds them by name."""
