"""The configuration as one typed model, from which the JSON schema and the error messages are made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from epsilometer.core import EpsilometerError
from epsilometer.data import OWN, REAL, SMALL, SYNTHETIC

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


def _require_distinct(values: list[Any]) -> list[Any]:
    twice = [value for number, value in enumerate(values) if value in values[:number]]
    if twice:
        raise ValueError(f"{twice[0]!r} is there twice; its entries must differ")
    return values


def _require_path(path: Path) -> Path:
    if path == Path():
        raise ValueError("the path is empty; name a file or folder")
    return path


def _real() -> list[str]:
    return list(REAL)


def _libraries() -> list[str]:
    from epsilometer.libraries.registry import libraries

    return list(libraries())


def _require_known(find_known: Callable[[], list[str]]) -> AfterValidator:
    def require(names: list[str]) -> list[str]:
        for name in names:
            if name not in find_known():
                raise ValueError(f"{name!r} is none of {', '.join(find_known())}")
        return names

    return AfterValidator(require)


def _list_known(find_known: Callable[[], list[str]]) -> Callable[[dict[str, Any]], None]:
    """Adds the known names to the JSON schema of a list, so that editors can offer them."""
    return lambda schema: schema.update(items={"type": "string", "enum": find_known()})


NamedPath = Annotated[Path, AfterValidator(_require_path)]


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class EpsilonGrid(Section):
    """The claimed epsilons of the epsilon curves, evenly spaced on a logarithmic scale."""

    smallest: Positive
    largest: Positive
    per_decade: int = Field(ge=1, strict=True)

    @model_validator(mode="after")
    def _check_order(self) -> EpsilonGrid:
        if self.smallest >= self.largest:
            raise ValueError(f"smallest is {self.smallest:g}; it must be below largest, {self.largest:g}")
        return self

    def values(self) -> list[float]:
        decades = np.log10(self.largest / self.smallest)
        points = np.logspace(0, decades, max(1, round(decades * self.per_decade)) + 1) * self.smallest
        return [float(f"{value:.4g}") for value in points]


class Reproduction(Section):
    """The experiments of nips08 (section 6) as the paper describes them."""

    points: int = Field(ge=50, strict=True, description="Records of each synthetic data set for the experiments.")
    holdout: int = Field(ge=50, strict=True, description="Further records of each synthetic data set, for tuning lambda.")
    lam: Positive = Field(description="The regularisation lambda that the paper states.")
    increment: int = Field(ge=1, strict=True, description="Training records that each point of the learning curve adds.")
    epsilons: EpsilonGrid

    @model_validator(mode="after")
    def _check_increment(self) -> Reproduction:
        if self.increment > self.points // 2:
            raise ValueError(f"increment is {self.increment}; it must be at most half of points, {self.points // 2}")
        return self


class Extension(Section):
    """The protocol of nips08 on other data sets, with lambda tuned on each."""

    datasets: Annotated[list[str], _require_known(_real), AfterValidator(_require_distinct)] = Field(
        description="Real data sets that are part of a dependency.", json_schema_extra=_list_known(_real)
    )
    csv: NamedPath | None = Field(
        None, description="A CSV of your own: columns `label` (-1 or 1) and features of norm <= 1."
    )
    holdout: float = Field(gt=0, lt=1, description="Share of the records that is set aside for tuning lambda.")
    increment: float = Field(gt=0, le=0.5, description="Share of the training records that each point of a curve adds.")
    epsilon: Positive = Field(description="Claimed epsilon of the table and of the learning curve.")
    epsilons: EpsilonGrid


class Audits(Section):
    """Audits of every mechanism of the catalogue."""

    epsilons: Annotated[list[Positive], Field(min_length=1), AfterValidator(_require_distinct)] = Field(
        description="Claimed epsilons at which each mechanism is audited."
    )
    trials: int = Field(ge=1000, strict=True, description="Outputs drawn for each sampled audit.")
    confidence: float = Field(gt=0.5, lt=1, description="Probability that no true claim of the report is called violated.")


class Libraries(Section):
    """Black-box audits of third-party libraries, each in an environment of its own."""

    names: Annotated[list[str], _require_known(_libraries), AfterValidator(_require_distinct)] = Field(
        description="Libraries to install and audit; an empty list for a run without a network.",
        json_schema_extra=_list_known(_libraries),
    )
    epsilons: Annotated[list[Positive], Field(min_length=1), AfterValidator(_require_distinct)] = Field(
        description="Claimed epsilons at which they are audited."
    )
    trials: int = Field(ge=1000, strict=True, description="Outputs drawn for each audit of a mechanism or function.")
    fits: int = Field(ge=1000, strict=True, description="Models trained for each audit of a learner.")


class AnonymisedTables(Section):
    """The attacks on anonymised tables, and on the same counts under Laplace noise."""

    epsilons: Annotated[list[Positive], Field(min_length=1), AfterValidator(_require_distinct)] = Field(
        description="Claimed epsilons of the noisy counts."
    )
    trials: int = Field(ge=1000, strict=True, description="Simulated attacks of each kind.")


class Membership(Section):
    """Membership inference on every data set, and on a small one, where models leak more."""

    epsilon: Positive = Field(description="Claimed epsilon of the attacked mechanisms.")
    trials: int = Field(ge=8, multiple_of=2, strict=True, description="Models attacked for each mechanism and target.")
    shadows: int = Field(ge=4, multiple_of=2, strict=True, description="Shadow models for each mechanism and target.")
    small: int = Field(ge=8, strict=True, description="Records of the small data set; models are trained on half of them.")


class Validation(Section):
    """Validation of the auditors on correct mechanisms, at the confidence of the audits."""

    epsilon: Positive = Field(description="Claimed epsilon at which the auditors are validated.")
    repetitions: int = Field(ge=1, strict=True, description="Repetitions of each audit of a correct mechanism.")
    trials: int = Field(ge=1000, strict=True, description="Outputs drawn for each sampled likelihood-ratio audit.")
    black_box_trials: int = Field(ge=100, strict=True, description="Outputs drawn for each black-box audit.")
    membership_trials: int = Field(
        ge=8, multiple_of=2, strict=True, description="Models attacked in each repetition of membership inference."
    )


class Config(Section):
    """Everything that a run depends on, apart from the code."""

    seed: int = Field(ge=0, strict=True, description="Seed from which every random stream is derived.")
    results: NamedPath = Field(description="Folder for the tables and figures.")
    page: NamedPath = Field(description="The HTML page to build from them.")
    folds: int = Field(ge=2, strict=True, description="Folds of every cross-validation.")
    restarts: int = Field(ge=2, strict=True, description="Repetitions of each randomised method in each fold.")
    lambdas: Annotated[list[Positive], Field(min_length=1), AfterValidator(_require_distinct)] = Field(
        description="Regularisations lambda among which tuning chooses."
    )
    reproduction: Reproduction
    extension: Extension
    anonymised_tables: AnonymisedTables
    audits: Audits
    libraries: Libraries
    membership: Membership
    validation: Validation

    @property
    def extension_datasets(self) -> list[str]:
        """The data sets of the extension, the user's own last."""
        return [*self.extension.datasets, *([OWN] if self.extension.csv else [])]

    @property
    def datasets(self) -> list[str]:
        """The data sets of nips08 and of the extension."""
        return [*SYNTHETIC, *self.extension_datasets]

    @property
    def attacked_datasets(self) -> list[str]:
        """The data sets of membership inference: those of nips08 and of the extension, and a small one."""
        return [*self.datasets, SMALL]


def load_config(values: Mapping[str, Any]) -> Config:
    """The checked configuration; an error has one sentence for each problem."""
    try:
        return Config.model_validate(dict(values))
    except ValidationError as error:
        sentences = [_sentence(problem) for problem in error.errors()]
        raise EpsilometerError("\n".join(f"config: {sentence}" for sentence in sentences)) from None


def _sentence(problem: Any) -> str:
    """A sentence that names the key, what is wrong with it, and what would be right."""
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
