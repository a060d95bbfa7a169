"""The rows of a table of verdicts, checked: a damaged table must not pass for one without violations."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from epsilometer.audits.verdicts import SLACK
from epsilometer.core import EpsilometerError, Verdict, read_table

AUDITORS = {"sampled": "sampled", "sampled_curve": "sampled curve", "black_box": "black box", "one_run": "one run"}
"""The columns of bounds that are certified from samples, and the auditors that they come from."""

Number = Annotated[float, Field(strict=True)]
Finite = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]


class Promise(BaseModel):
    """A row of a table of verdicts: one mechanism at one promised epsilon."""

    model_config = ConfigDict(frozen=True)

    mechanism: str
    promised: Finite
    delta: Finite
    exact: Number
    sampled: Number
    sampled_curve: Number
    black_box: Number
    one_run: Number
    p_value: Number
    verdict: Verdict

    @property
    def violated(self) -> bool:
        return self.verdict == "violated"

    @property
    def rests_on_sampling(self) -> bool:
        """Whether the promise is called violated although no exact value exceeds it."""
        return self.violated and not self.exact > self.promised * (1 + SLACK)

    @property
    def name(self) -> str:
        delta = f" and delta = {self.delta:.4g}" if self.delta > 0 else ""
        return f"{self.mechanism} at epsilon = {self.promised:.4g}{delta}"

    @property
    def most(self) -> tuple[float, str]:
        """The most that is known to be spent, and who says so: the exact value, or else the largest certified bound."""
        if not (math.isnan(self.exact) or self.rests_on_sampling):
            return self.exact, "exact"
        bounds = {auditor: getattr(self, column) for column, auditor in AUDITORS.items()}
        known = {auditor: bound for auditor, bound in bounds.items() if not math.isnan(bound)}
        if not known:
            return math.nan, ""
        auditor = max(known, key=known.__getitem__)
        return known[auditor], auditor

    @property
    def spent(self) -> str:
        """The same in words."""
        value, auditor = self.most
        if not auditor:
            return "spends an unknown epsilon"
        return f"spends {'' if auditor == 'exact' else 'at least '}{value:.4g} ({auditor})"


Promises = Mapping[tuple[str, float], Promise]


def load_promises(*paths: Path) -> Promises:
    """The promises of all these tables, by mechanism and promised epsilon."""
    promises: dict[tuple[str, float], Promise] = {}
    for path in paths:
        for promise in _promises(path):
            key = (promise.mechanism, promise.promised)
            if key in promises:
                raise EpsilometerError(f"{path} has a second verdict on {promise.name}; there must be one")
            promises[key] = promise
    return promises


def _promises(path: Path) -> Iterator[Promise]:
    for number, row in enumerate(read_table(path, *Promise.model_fields), start=1):
        try:
            yield Promise.model_validate(row)
        except ValidationError as error:
            raise EpsilometerError(f"{path}: row {number} is no verdict: {problems(error)}") from None


def problems(error: ValidationError) -> str:
    """All that is wrong, in one line."""
    places = [(".".join(map(str, problem["loc"])) or "the file", problem["msg"]) for problem in error.errors()]
    return "; ".join(f"{place}: {message}" for place, message in places)
