"""The papers, a folder for each: its experiments, its figures and its claims, section by section."""
