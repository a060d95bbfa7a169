"""The experiments that the protocol of nips08 consists of, for any data sets: tuning, error table, two kinds of curves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from epsilometer.papers.curves import epsilon_curve, error_table, learning_curve
from epsilometer.papers.paper import Experiment, Tables
from epsilometer.papers.tuning import tuning

if TYPE_CHECKING:
    from epsilometer.config import Config

Choice = Callable[["Config", str], Any]
"""The value of an option for a data set; a text names the table, below the results, to take it from."""


@dataclass(frozen=True)
class Protocol:
    """Which data sets go through the protocol, and with which lambda, epsilon, increments and epsilons."""

    datasets: Callable[[Config], Sequence[str]]
    lam: Choice
    epsilon: Choice
    increment: Callable[[Config], float]
    epsilons: Callable[[Config], Sequence[float]]

    def experiments(self) -> tuple[Experiment, ...]:
        """The four experiments."""
        return (
            Experiment(
                tuning,
                parts=self.datasets,
                needs=_dataset,
                options=lambda settings, _: {"lambdas": settings.lambdas},
                message="Tuning of lambda on {part}",
            ),
            self._trained(epsilon_curve, "Epsilon curve on {part}", ("lam",), epsilons=self.epsilons),
            self._trained(error_table, "Test errors on {part}", ("lam", "epsilon")),
            self._trained(learning_curve, "Learning curve on {part}", ("lam", "epsilon"), increment=self.increment),
        )

    def _trained(
        self, run: Callable[..., None], message: str, chosen: Sequence[str], **others: Callable[[Config], Any]
    ) -> Experiment:
        """An experiment that trains with the protocol's lambda, and perhaps at its epsilon."""

        def values(settings: Config, part: str) -> dict[str, Any]:
            return {name: getattr(self, name)(settings, part) for name in chosen}

        def needs(settings: Config, part: str) -> Mapping[str, Tables]:
            tables = {name: value for name, value in values(settings, part).items() if isinstance(value, str)}
            return {**_dataset(settings, part), **tables}

        def options(settings: Config, part: str) -> dict[str, Any]:
            fixed = {name: value for name, value in values(settings, part).items() if not isinstance(value, str)}
            own = {name: choose(settings) for name, choose in others.items()}
            return {**fixed, **own, "restarts": settings.restarts, "seed": settings.seed}

        return Experiment(run, parts=self.datasets, needs=needs, options=options, message=message)


def _dataset(_: Config, part: str) -> Mapping[str, Tables]:
    return {"dataset": f"dataset/{part}"}
