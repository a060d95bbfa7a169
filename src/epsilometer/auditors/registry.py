"""Every auditor of the package: each module that has a `SPEC`. Adding an auditor means adding one file."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

import epsilometer.auditors
from epsilometer.auditors.spec import AuditorSpec


@cache
def auditors() -> tuple[AuditorSpec, ...]:
    """All auditors in the order in which they run. Auditors of different mechanisms may share a name and a column."""
    found = []
    for module in pkgutil.walk_packages(epsilometer.auditors.__path__, "epsilometer.auditors."):
        spec = getattr(importlib.import_module(module.name), "SPEC", None)
        found += [spec] if isinstance(spec, AuditorSpec) else list(spec or ())
    return tuple(sorted(dict.fromkeys(found), key=lambda spec: spec.order))


@cache
def by_name() -> dict[str, AuditorSpec]:
    """The first record of each name, as tables and figures show them; auditors that assume a model come last."""
    named: dict[str, AuditorSpec] = {}
    for spec in auditors():
        named.setdefault(spec.name, spec)
    return dict(sorted(named.items(), key=lambda item: item[1].model_based))
