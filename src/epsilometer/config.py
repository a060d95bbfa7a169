"""What a user may change, as one typed model; the JSON schema and the messages come from it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from epsilometer.core import EpsilometerError
from epsilometer.data import REAL, SMALL, SYNTHETIC
from epsilometer.experiments.nips08 import PRINTED

OWN = "own"
"""The name under which a user's own CSV goes through the experiments."""

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


def _distinct(values: list[Any]) -> list[Any]:
    twice = [value for number, value in enumerate(values) if value in values[:number]]
    if twice:
        raise ValueError(f"{twice[0]!r} is there twice; its entries must differ")
    return values


def _named(path: Path) -> Path:
    if path == Path():
        raise ValueError("the path is empty; name a file or folder")
    return path


NamedPath = Annotated[Path, AfterValidator(_named)]


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class EpsilonGrid(Section):
    """Privacy parameters of the epsilon curves, evenly spaced on a log scale."""

    smallest: Positive
    largest: Positive
    per_decade: int = Field(ge=1, strict=True)

    @model_validator(mode="after")
    def _in_order(self) -> EpsilonGrid:
        if self.smallest >= self.largest:
            raise ValueError(f"smallest is {self.smallest:g}; it must be below largest, {self.largest:g}")
        return self

    def values(self) -> list[float]:
        decades = np.log10(self.largest / self.smallest)
        points = np.logspace(0, decades, max(1, round(decades * self.per_decade)) + 1) * self.smallest
        return [float(f"{value:.4g}") for value in points]


class Reproduction(Section):
    """The experiments of nips08 (section 6) as the paper describes them."""

    points: int = Field(ge=50, strict=True, description="Records for the experiments of each synthetic data set.")
    holdout: int = Field(ge=50, strict=True, description="Further records, for tuning lambda.")
    lam: Positive = Field(description="The regularisation that the paper says it used.")
    increment: int = Field(ge=1, strict=True, description="Training records that each point of the learning curve adds.")
    epsilons: EpsilonGrid

    @model_validator(mode="after")
    def _increment_fits(self) -> Reproduction:
        if self.increment > self.points // 2:
            raise ValueError(f"increment is {self.increment}; it must be at most half of points, {self.points // 2}")
        return self


class Extension(Section):
    """The same protocol on other data, with lambda tuned on each."""

    datasets: Annotated[list[Literal["breast_cancer", "rand_hie"]], AfterValidator(_distinct)] = Field(
        description="Real data sets that ship inside dependencies."
    )
    csv: NamedPath | None = Field(
        None, description="A CSV of your own: columns `label` (-1 or 1) and features of norm <= 1."
    )
    holdout: float = Field(gt=0, lt=1, description="Share of the records set aside for tuning lambda.")
    increment: float = Field(gt=0, le=0.5, description="Share of the training records that each point of a curve adds.")
    epsilon: Positive = Field(description="Privacy parameter of the table and of the learning curve.")
    epsilons: EpsilonGrid


class Audits(Section):
    """What the auditors of the catalogue may spend."""

    epsilons: Annotated[list[Positive], Field(min_length=1), AfterValidator(_distinct)] = Field(
        description="Promised epsilons at which each mechanism is audited."
    )
    trials: int = Field(ge=1000, strict=True, description="Outputs drawn for each sampled audit: the budget.")
    confidence: float = Field(gt=0.5, lt=1, description="Probability with which no promise is called violated wrongly.")


class Libraries(Section):
    """The black-box audits of other people's code, each library in an environment of its own."""

    names: Annotated[list[Literal["diffprivlib"]], AfterValidator(_distinct)] = Field(
        description="Libraries that are installed and audited; none for a run without a network."
    )
    epsilons: Annotated[list[Positive], Field(min_length=1), AfterValidator(_distinct)] = Field(
        description="Promised epsilons at which they are audited."
    )
    trials: int = Field(ge=1000, strict=True, description="Outputs drawn of each mechanism or function.")
    fits: int = Field(ge=1000, strict=True, description="Models fitted of each kind.")


class AnonymisedTables(Section):
    """The attacks on anonymised tables, and on the same counts under Laplace noise."""

    epsilons: Annotated[list[Positive], Field(min_length=1), AfterValidator(_distinct)] = Field(
        description="Epsilons of the noisy counts."
    )
    trials: int = Field(ge=1000, strict=True, description="Simulated attacks of each kind.")


class Membership(Section):
    """Membership inference on every data set, and on a small one where leakage is real."""

    epsilon: Positive = Field(description="Promised epsilon of the attacked mechanisms.")
    trials: int = Field(ge=8, multiple_of=2, strict=True, description="Models attacked for each mechanism and target.")
    shadows: int = Field(ge=4, multiple_of=2, strict=True, description="Models that the attacker trains of its own.")
    small: int = Field(ge=8, strict=True, description="Records of the small data set; half of them are trained on.")


class Validation(Section):
    """What the validation of the auditors may spend; the confidence is that of the audits."""

    epsilon: Positive = Field(description="Promised epsilon at which the auditors are validated.")
    repetitions: int = Field(ge=1, strict=True, description="Repetitions of each audit of a correct mechanism.")
    trials: int = Field(ge=1000, strict=True, description="Outputs drawn for each sampled likelihood-ratio audit.")
    black_box_trials: int = Field(ge=100, strict=True, description="Outputs drawn for each black-box audit.")
    membership_trials: int = Field(
        ge=8, multiple_of=2, strict=True, description="Models attacked in each repetition of membership inference."
    )


class Config(Section):
    """Everything a run depends on, apart from the code."""

    seed: int = Field(ge=0, strict=True, description="Root of every random stream.")
    results: NamedPath = Field(description="Folder for tables and figures.")
    page: NamedPath = Field(description="The HTML page to build from them.")
    folds: int = Field(ge=2, strict=True, description="Folds of every cross-validation.")
    restarts: int = Field(ge=2, strict=True, description="Runs of each randomised method in each fold.")
    lambdas: Annotated[list[Positive], Field(min_length=1), AfterValidator(_distinct)] = Field(
        description="Regularisations to try in tuning."
    )
    reproduction: Reproduction
    extension: Extension
    anonymised_tables: AnonymisedTables
    audits: Audits
    libraries: Libraries
    membership: Membership
    validation: Validation

    @property
    def paper_datasets(self) -> list[str]:
        return list(SYNTHETIC)

    @property
    def extension_datasets(self) -> list[str]:
        return [*self.extension.datasets, *([OWN] if self.extension.csv else [])]

    @property
    def datasets(self) -> list[str]:
        return self.paper_datasets + self.extension_datasets

    @property
    def attacked_datasets(self) -> list[str]:
        return [*self.datasets, SMALL]


assert {dataset for dataset, _ in PRINTED} == set(SYNTHETIC)
assert set(Extension.model_fields["datasets"].annotation.__args__[0].__args__) == set(REAL)  # type: ignore[union-attr]


def load_config(values: Mapping[str, Any]) -> Config:
    """The checked configuration; every problem at once, in a sentence each, if there are any."""
    try:
        return Config.model_validate(dict(values))
    except ValidationError as error:
        sentences = [_sentence(problem) for problem in error.errors()]
        raise EpsilometerError("\n".join(f"config: {sentence}" for sentence in sentences)) from None


def _sentence(problem: Any) -> str:
    """What is wrong with which key, and what would be right."""
    key = ".".join(map(str, problem["loc"])) or "the configuration"
    value, kind, context = problem["input"], problem["type"], problem.get("ctx", {})
    match kind:
        case "missing":
            return f"{key} is missing; {_meaning(problem['loc'])}"
        case "extra_forbidden":
            return f"{key} is not a key; {_siblings(problem['loc'])}"
        case "literal_error":
            return f"{key} is {value!r}; it must be {context['expected']}"
        case "value_error":
            return f"{key}: {context['error']}"
        case _:
            return f"{key} is {value!r}; {problem['msg'].replace('Input should', 'it must')}"


def _siblings(location: tuple[Any, ...]) -> str:
    section = _section(location[:-1])
    return f"the keys {'there' if location[:-1] else 'at the top'} are {', '.join(section.model_fields)}"


def _meaning(location: tuple[Any, ...]) -> str:
    field = _section(location[:-1]).model_fields[location[-1]]
    return f"it stands for: {field.description}" if field.description else "give it a value"


def _section(location: tuple[Any, ...]) -> type[BaseModel]:
    section: type[BaseModel] = Config
    for key in location:
        section = section.model_fields[key].annotation  # type: ignore[assignment]
    return section
