"""The tables of membership inference."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict

from epsilometer.core import Verdict
from epsilometer.core.tables import EMPTY, Column, Table, columns_of


class AttackKey(TypedDict):
    """The columns that identify an attack."""

    dataset: Annotated[str, "name of the data set"]
    target: Annotated[str, "whose membership is at stake: an average record, the most exposed one, or an outlier"]
    mechanism: Annotated[str, "name of the attacked mechanism in the catalogue"]
    attack: Annotated[str, "name of the attack"]


KEY = tuple(columns_of(AttackKey))


class GameRow(AttackKey):
    """The first columns of the table of attacks."""

    promised: Annotated[float, "claimed epsilon; empty for a mechanism that claims none", EMPTY]
    delta: Annotated[float, "claimed delta"]
    n: Annotated[int, "training records"]
    lam: Annotated[float, "regularisation"]
    trials: Annotated[int, "models attacked"]


class CertifiedRow(TypedDict):
    """The last columns of the table of attacks."""

    certified: Annotated[float, "lower confidence bound on epsilon, at the claimed delta"]
    p_value: Annotated[float, "p-value against the claim, not corrected for the number of attacks", EMPTY]
    test_error: Annotated[float, "share of test records that the released models classify wrongly"]
    nonprivate_test_error: Annotated[float, "the same for the same models without privacy"]


class MembershipRow(GameRow, CertifiedRow):
    """What each attack achieves against each mechanism and target, beside what the claim allows."""


class PointRow(AttackKey):
    """The ROC of each attack, with a pointwise confidence band."""

    fpr: Annotated[float, "false positive rate"]
    tpr: Annotated[float, "true positive rate"]
    low: Annotated[float, "lower end of its confidence interval"]
    high: Annotated[float, "upper end of its confidence interval"]
    allowed: Annotated[float, "largest true positive rate that the claim allows", EMPTY]


class AttackCountRow(AttackKey):
    """The counts behind each certified epsilon: an event, chosen on other trials, for members and for others."""

    hits: Annotated[int, "how often the event occurred on the side where it is more likely"]
    of: Annotated[int, "models on that side"]
    other_hits: Annotated[int, "how often it occurred on the other side"]
    other_of: Annotated[int, "models on the other side"]


class AttackVerdictRow(TypedDict):
    """A verdict on each attack on a mechanism that claims an epsilon, corrected for the number of attacks."""

    mechanism: Annotated[str, "name of the attacked mechanism in the catalogue"]
    promised: Annotated[float, "claimed epsilon"]
    delta: Annotated[float, "claimed delta"]
    dataset: Annotated[str, "name of the data set"]
    target: Annotated[str, "whose membership is at stake"]
    attack: Annotated[str, "name of the attack"]
    certified: Annotated[float, "lower confidence bound on epsilon, at the claimed delta"]
    trials: Annotated[int, "models attacked"]
    p_value: Annotated[float, "p-value against the claim, after Holm's correction over all attacks"]
    verdict: Annotated[Verdict, "violated, tight, consistent or underpowered"]


class ValidationRow(TypedDict):
    """How often attacks on correct mechanisms stay inside what the claim allows."""

    mechanism: Annotated[str, "name of the attacked mechanism in the catalogue"]
    attack: Annotated[str, "name of the attack"]
    promised: Annotated[float, "claimed epsilon"]
    delta: Annotated[float, "claimed delta"]
    n: Annotated[int, "training records"]
    lam: Annotated[float, "regularisation"]
    trials: Annotated[int, "models attacked in each repetition"]
    repetitions: Annotated[int, "how often the attack was repeated"]
    inside: Annotated[int, "repetitions whose certified epsilon is at most the claimed one"]
    share: Annotated[float, "`inside` as a share of the repetitions"]
    low: Annotated[float, "lower end of its 95% Clopper-Pearson interval"]
    high: Annotated[float, "upper end of its 95% Clopper-Pearson interval"]
    median_certified: Annotated[float, "median of the certified epsilons"]
    largest_certified: Annotated[float, "largest certified epsilon"]
    median_of_promise: Annotated[float, "`median_certified` as a share of the claimed epsilon"]


def _measured() -> dict[str, Column]:
    """Each measure of an attack with its interval and with what the claim allows."""
    columns: dict[str, Column] = {}
    measures = {
        "auc": "area under the ROC",
        "advantage": "true less false positive rate at the best threshold",
        "tpr_at_0.001": "true positive rate at a false positive rate of 0.1%",
        "tpr_at_0.01": "true positive rate at a false positive rate of 1%",
    }
    for name, meaning in measures.items():
        columns[name] = Column(float, meaning)
        columns[f"{name}_low"] = Column(float, "lower end of its confidence interval")
        columns[f"{name}_high"] = Column(float, "upper end of its confidence interval")
        columns[f"{name}_bound"] = Column(float, "the most that the claim allows", optional=True)
    return columns


MEMBERSHIP = Table[Any](
    "membership/{dataset}",
    MembershipRow,
    columns={**columns_of(GameRow), **_measured(), **columns_of(CertifiedRow)},
)
ROC = Table[PointRow]("membership/roc/{dataset}", PointRow)
COUNTS = Table[AttackCountRow]("membership/counts/{dataset}", AttackCountRow)
MEMBERSHIP_VERDICTS = Table[AttackVerdictRow]("verdicts/membership", AttackVerdictRow)
MEMBERSHIP_VALIDATION = Table[ValidationRow]("validation/membership", ValidationRow)
