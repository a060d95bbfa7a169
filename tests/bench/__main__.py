"""Speed figures, each side by side with its rival in one run on one core: `make bench`, or `make bench PARTS="solver"`."""

from __future__ import annotations

import sys

from tests.bench import audits, black_box, mechanisms, shadows, solver, startup

PARTS = {
    "solver": solver.run,
    "shadows": shadows.run,
    "startup": startup.run,
    "mechanisms": mechanisms.run,
    "audits": audits.run,
    "black_box": black_box.run,
}

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        if part not in PARTS:
            sys.exit(f"there is no part {part!r}; there are {', '.join(PARTS)}")
        PARTS[part]()
