"""Abstract and section 1 of nips08: anonymised data are not private, and the new method's noise needs no sensitivity."""

from __future__ import annotations

from epsilometer.erm import Logistic, SphericalNoise
from epsilometer.mechanisms.objective_perturbation import ObjectivePerturbation2008, ObjectivePerturbationGeneral
from epsilometer.papers.claim import Claim, Decision, Evidence, Measured, Numbers
from epsilometer.papers.deciders import holds_if
from epsilometer.papers.measures import VERDICTS, catalogue_shares, computed
from epsilometer.papers.nips08.claims.shared import FIRST_SIZE, PAPERS_LAM


def measure_anonymised(evidence: Evidence) -> Measured:
    """The privacy loss of a 2-anonymous table; it is the same whatever epsilon is asked for."""
    return Measured({"spent": min(catalogue_shares(evidence, "k_anonymity").values())})


def decide_anonymised(numbers: Numbers, tolerances: Numbers) -> Decision:
    """Holds if the privacy loss is larger than any epsilon that counts as privacy."""
    spent, largest = numbers["spent"], tolerances["largest_epsilon"]
    sentence = (
        f"The exact audit of a 2-anonymous table of nine patients, by one who knows all others, gives epsilon = {spent:g}; "
        f"{largest:g} would be very weak privacy."
    )
    return holds_if(spent > largest, sentence, "This anonymised table gives little away.")


ANONYMISED = Claim(
    id="nips08-anonymisation",
    locator="section 1.1",
    statement="Taking names and addresses out of a data set does not make it private, since someone may know more than the "
    "data set shows.",
    needs=(VERDICTS,),
    measure=measure_anonymised,
    decide=decide_anonymised,
    tolerances={"largest_epsilon": 20.0},
    link=f"{VERDICTS}.csv",
)


class _Doubled(Logistic):
    """A loss with twice the logistic loss's slope."""

    lipschitz = 2.0


@computed
def measure_noise_factors() -> Numbers:
    """Algorithm 2's mean noise, in one dimension, relative to that at n = 1,000 and lambda = 0.01 for the logistic loss."""
    kinds = {
        "base": ObjectivePerturbation2008(1.0, PAPERS_LAM).plan(FIRST_SIZE),
        "ten_times_lambda": ObjectivePerturbation2008(1.0, 10 * PAPERS_LAM).plan(FIRST_SIZE),
        "ten_times_n": ObjectivePerturbation2008(1.0, PAPERS_LAM).plan(10 * FIRST_SIZE),
        "twice_the_slope": ObjectivePerturbationGeneral(1.0, FIRST_SIZE * PAPERS_LAM, loss=_Doubled()).plan(FIRST_SIZE),
    }
    rates = {name: noise.rate for name, (noise, _) in kinds.items() if isinstance(noise, SphericalNoise)}
    return {name: rates["base"] / rate for name, rate in rates.items() if name != "base"}


def decide_no_sensitivity(numbers: Numbers, tolerances: Numbers) -> Decision:
    """Holds if the noise is the same in all settings."""
    lam, n, slope = (numbers[name] for name in ("ten_times_lambda", "ten_times_n", "twice_the_slope"))
    sentence = (
        f"The noise is multiplied by {lam:.3g} where lambda is ten times as large, by {n:.3g} where n is, and by "
        f"{slope:.3g} where the loss is twice as steep; the sensitivity 2 kappa/(n lambda) by 0.1, 0.1 and 2."
    )
    same = all(abs(value - 1) <= tolerances["same"] for value in numbers.values())
    instead = "The noise does not depend on n and lambda, but does on the bound kappa of the gradient, as Theorem 3 says."
    return holds_if(same, sentence, instead)


NO_SENSITIVITY = Claim(
    id="nips08-abstract-no-sensitivity",
    locator="abstract and section 1",
    statement="The noise of the new method does not depend on the sensitivity of the function that is learnt.",
    computes="the rate of Algorithm 2's noise in four settings of n, lambda and the loss",
    measure=measure_noise_factors,
    decide=decide_no_sensitivity,
    tolerances={"same": 1e-09},
)
