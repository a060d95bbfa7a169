"""Speed figures, each side by side with its rival in one run on one core: `make bench`."""

from __future__ import annotations

from tests.bench import audits, black_box, mechanisms, solver, startup

if __name__ == "__main__":
    solver.run()
    startup.run()
    mechanisms.run()
    audits.run()
    black_box.run()
