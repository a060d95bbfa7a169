"""Posterior sampling: the Gaussian that it draws from, and its promise, checked against exact values of delta.

A test that compares samples with a distribution would fail with probability 1e-6 for another seed.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from epsilometer.core import Array, EpsilometerError, Guarantee
from epsilometer.mechanisms.posterior_sampling import ENTRIES, AdaptivePosteriorSample, OnePosteriorSample
from tests.mechanisms import agreement

STANDARD = np.linspace(-14, 14, 5601)
RECORD = np.array([[1.0, 1.0]])
NOTHING = np.array([[0.0, 0.0]])


def exact_delta(epsilon: float, one: tuple[float, float], other: tuple[float, float]) -> float:
    """The larger delta, of both directions, between Gaussians on the line with these means and deviations, by quadrature."""
    found = []
    for p, q in ((one, other), (other, one)):
        x = p[0] + p[1] * STANDARD
        excess = stats.norm.pdf(x, *p) - np.exp(epsilon) * stats.norm.pdf(x, *q)
        found.append(np.trapezoid(np.maximum(excess, 0), x))
    return float(max(found))


def ridge(dataset: NDArray[np.float64], lam: float, gamma: float) -> tuple[Array, Array]:
    """Mean and covariance of the posterior."""
    x, y = dataset[:, :-1], dataset[:, -1]
    inverse = np.asarray(np.linalg.inv(x.T @ x + lam * np.eye(x.shape[1])), dtype=np.float64)
    return inverse @ x.T @ y, inverse / gamma


def along(dataset: NDArray[np.float64], x: Array, lam: float, gamma: float) -> tuple[float, float]:
    """Mean and deviation of x.theta."""
    mean, covariance = ridge(dataset, lam, gamma)
    return float(x @ mean), float(np.sqrt(x @ covariance @ x))


def records(n: int, d: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Records inside the ball, on the sphere and at the origin, with interior and extreme labels."""
    x = rng.standard_normal((n, d))
    x *= rng.choice([0.0, 0.3, 1.0, 1.0], (n, 1)) / np.linalg.norm(x, axis=1, keepdims=True)
    y = np.where(rng.random(n) < 0.5, rng.choice([-1.0, 1.0], n), rng.uniform(-1, 1, n))
    return np.column_stack([x, y])


@pytest.mark.parametrize("published", [False, True])
def test_the_output_is_the_posterior(published: bool) -> None:
    data = records(9, 3, np.random.default_rng(1))
    mechanism = OnePosteriorSample(0.7, 1e-3, 9, published)
    lam, gamma = mechanism.calibration(3)
    mean, covariance = ridge(data, lam, gamma)
    theta = mechanism.sample(data, 50, np.random.default_rng(2))
    expected = stats.multivariate_normal(mean, covariance).logpdf(theta)
    np.testing.assert_allclose(mechanism.log_density(data, theta), expected, rtol=1e-9, atol=1e-9)
    many = mechanism.sample(data, 20_000, np.random.default_rng(3))
    whitened = np.linalg.solve(np.linalg.cholesky(covariance), (many - mean).T)
    assert stats.kstest(whitened.ravel(), "norm").pvalue > 1e-6


def test_sampler_and_density_agree_in_the_plane() -> None:
    data = records(6, 2, np.random.default_rng(4))
    p_value, mass = agreement.continuous_2d(OnePosteriorSample(1.0, 1e-5, 6), data, np.random.default_rng(5))
    assert p_value > 1e-6
    assert mass == pytest.approx(1, abs=1e-3)


def test_the_likelihood_ratio_depends_on_the_residual_alone() -> None:
    """So delta may be computed on the line, from the law of x.theta."""
    rng = np.random.default_rng(6)
    small, record = records(7, 3, rng), records(3, 3, rng)[-1:]
    large, x = np.vstack([small, record]), record[0, :-1]
    mechanism = OnePosteriorSample(1.0, 1e-5, 8)
    lam, gamma = mechanism.calibration(3)
    theta = rng.standard_normal((40, 3))
    ratio = mechanism.log_density(small, theta) - mechanism.log_density(large, theta)
    on_the_line = [stats.norm.logpdf(theta @ x, *along(data, x, lam, gamma)) for data in (small, large)]
    np.testing.assert_allclose(ratio, on_the_line[0] - on_the_line[1], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("most", [1, 5, 1000])
def test_the_calibration_spends_the_budget_of_the_proof(epsilon: float, most: int) -> None:
    lam, gamma = OnePosteriorSample(epsilon, 1e-4, most).calibration(2)
    z = stats.norm.isf(1e-4 / 2)
    s = (1 + min(np.sqrt((most - 1) / lam) / 2, (most - 1) / lam)) * np.sqrt(gamma / lam)
    without_gamma = np.log(1 + 1 / lam) / 2 + z**2 / (2 * lam)
    assert without_gamma + s**2 / 2 + s * z == pytest.approx(epsilon)
    assert without_gamma < epsilon / 2


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("delta", [0.3, 1e-2, 1e-5])
def test_the_promise_holds_exactly(epsilon: float, delta: float) -> None:
    """The exact delta on pairs of many kinds stays below the promised one."""
    rng = np.random.default_rng(7)
    for case in range(40):
        most, d = int(rng.integers(2, 30)), int(rng.integers(1, 4))
        lam, gamma = OnePosteriorSample(epsilon, delta, most).calibration(d)
        record = records(1, d, rng)
        record[0, 0] += 0.0 if record[0, :-1].any() else 1.0
        others = records(most - 1, d, rng)
        if case % 4 == 0:
            others = np.tile(np.append(record[0, :-1], -record[0, -1]), (most - 1, 1))
        if case % 4 == 1:
            others = np.zeros((most - 1, d + 1))
        x = record[0, :-1]
        laws = [along(data, x, lam, gamma) for data in (others, np.vstack([others, record]))]
        assert exact_delta(epsilon, *laws) <= delta


@pytest.mark.slow
def test_the_promise_holds_wherever_leverage_and_residual_may_be() -> None:
    """On a grid of leverages m <= 1/lam and residuals |R| <= L, which the data sets above may miss."""
    epsilon, delta, most = 1.0, 1e-3, 5
    lam, gamma = OnePosteriorSample(epsilon, delta, most).calibration(1)
    longest = 1 + min(np.sqrt((most - 1) / lam) / 2, (most - 1) / lam)
    for m in np.linspace(0.02, 1, 15) / lam:
        for residual in np.linspace(0, longest, 15):
            small, large = (residual, np.sqrt(m / gamma)), (residual / (1 + m), np.sqrt(m / (1 + m) / gamma))
            assert exact_delta(epsilon, small, large) <= delta


def test_the_bound_on_the_fit_is_right_and_nearly_reached() -> None:
    rng = np.random.default_rng(8)
    largest = 0.0
    for _ in range(200):
        n, d, lam = int(rng.integers(1, 20)), int(rng.integers(1, 4)), 10 ** rng.uniform(-1, 2)
        data = records(n, d, rng)
        bound = min(np.sqrt(n / lam) / 2, n / lam)
        largest = max(largest, float(np.linalg.norm(ridge(data, lam, 1.0)[0])) / bound)
    same = np.tile(RECORD, (9, 1))  # 9 equal records and lam = 9: exactly sqrt(n/lam)/2
    assert largest <= 1
    assert np.linalg.norm(ridge(same, 9.0, 1.0)[0]) == pytest.approx(0.5)


@pytest.mark.parametrize(("delta", "passed"), [(1e-10, 30.0), (1e-8, 4.0)])
def test_the_published_constants_break_the_promise_for_a_small_delta(delta: float, passed: float) -> None:
    laws = {}
    for published in (True, False):
        lam, gamma = OnePosteriorSample(1.0, delta, 2, published).calibration(1)
        pair = [along(data, RECORD[0, :1], lam, gamma) for data in (NOTHING, np.vstack([NOTHING, RECORD]))]
        laws[published] = exact_delta(1.0, pair[0], pair[1])
    assert laws[True] > passed * delta
    assert laws[False] < 0.1 * delta


def test_the_published_constants_are_the_roots_of_the_published_quadratic() -> None:
    epsilon, delta, n, d = 0.5, 1e-6, 200, 3
    lam, gamma = OnePosteriorSample(epsilon, delta, n, published=True).calibration(d)
    lam -= 1
    w = np.log(2 / delta)
    cost = (d / 2 + np.sqrt(d * np.log(20)) + np.log(20)) * w / (epsilon / 2) ** 2
    assert lam == pytest.approx(np.cbrt(cost * n / 2))
    bound = 1 + np.sqrt(n) / np.sqrt(2 * lam)
    spent = gamma * bound**2 / (lam + 1) + np.sqrt(gamma) * bound * np.sqrt(w / lam) + (1 + w) / (2 * lam)
    assert spent == pytest.approx(epsilon)


def straightforward(mechanism: AdaptivePosteriorSample, data: NDArray[np.float64], row: Array) -> float:
    """The transcript's log-density, step by step as the docstring has it."""
    epsilon, delta = mechanism.epsilon, mechanism.delta
    q, z = 4 / epsilon * np.log(3 / (2 * delta)), stats.norm.isf(delta / 6)
    x = data[:, :-1]
    smallest = np.linalg.eigvalsh(x.T @ x)[0]
    e = max(0.0, row[0] - q - 1)
    lam = max(1.0, 2 * (1 + z**2) / epsilon - e)
    h = e + lam
    centre = np.linalg.solve(x.T @ x + lam * np.eye(x.shape[1]), x.T @ data[:, -1])
    s = np.log(1 + 1 / h)
    length = max(1.0, np.exp(row[1] + s * (q + 1)))
    left = epsilon / 2 - s / 2 - z**2 / (2 * h)
    root = np.sqrt(z**2 + 2 * left) - z
    gamma = h * root**2 / length**2
    covariance = np.linalg.inv(gamma * (x.T @ x + lam * np.eye(x.shape[1])))
    return float(
        stats.laplace.logpdf(row[0], smallest, 4 / epsilon)
        + stats.laplace.logpdf(row[1], np.log(1 + np.linalg.norm(centre)), 4 * s / epsilon)
        + stats.multivariate_normal(centre, covariance).logpdf(row[2:])
    )


@pytest.mark.parametrize(("n", "epsilon"), [(5, 1.0), (300, 3.0)])
def test_the_adaptive_density_is_that_of_the_steps(n: int, epsilon: float) -> None:
    data = records(n, 2, np.random.default_rng(9))
    mechanism = AdaptivePosteriorSample(epsilon, 1e-2)
    outputs = mechanism.sample(data, 40, np.random.default_rng(10))
    expected = [straightforward(mechanism, data, row) for row in outputs]
    np.testing.assert_allclose(mechanism.log_density(data, outputs), expected, rtol=1e-7, atol=1e-7)


def test_the_adaptive_sampler_follows_the_steps() -> None:
    """Each released number, made uniform or standard by the law that its step has given the former ones."""
    data, mechanism = records(100, 2, np.random.default_rng(11)), AdaptivePosteriorSample(2.0, 1e-2)
    x = data[:, :-1]
    outputs = mechanism.sample(data, 5_000, np.random.default_rng(12))
    eigenvalue, log_size, theta = outputs[:, 0], outputs[:, 1], outputs[:, 2:]
    assert stats.kstest(eigenvalue - np.linalg.eigvalsh(x.T @ x)[0], stats.laplace(scale=2.0).cdf).pvalue > 1e-6
    lam, floor = mechanism.regularisation(eigenvalue)
    assert (lam == 1).sum() > 100 < (lam > 1).sum()  # both regimes occur
    hessians = x.T @ x + lam[:, None, None] * np.eye(2)
    centres = np.linalg.solve(hessians, np.broadcast_to(x.T @ data[:, -1], (5_000, 2))[..., None])[..., 0]
    noise = (log_size - np.log1p(np.linalg.norm(centres, axis=1))) / np.log1p(1 / floor)
    assert stats.kstest(noise, stats.laplace(scale=2.0).cdf).pvalue > 1e-6
    gamma = np.exp(mechanism.log_precision(floor, log_size))
    roots = np.linalg.cholesky(gamma[:, None, None] * hessians)
    standard = np.einsum("rji,rj->ri", roots, theta - centres)
    assert stats.kstest(standard.ravel(), "norm").pvalue > 1e-6


def test_what_the_adaptive_proof_says_of_neighbours() -> None:
    """An eigenvalue moves by at most 1, log(1 + |fit|) by at most log(1 + 1/h), h = the smaller one's lambda_min(A)."""
    rng = np.random.default_rng(13)
    reached = 0.0
    for _ in range(300):
        n, d = int(rng.integers(1, 12)), int(rng.integers(1, 4))
        small = records(n, d, rng)
        large = np.vstack([small, records(1, d, rng)])
        low, high = (np.linalg.eigvalsh(data[:, :-1].T @ data[:, :-1])[0] for data in (small, large))
        assert -1e-12 <= high - low <= 1 + 1e-12
        lam = 10 ** rng.uniform(-2, 2)
        h = max(low, 0.0) + lam
        sizes = [np.log1p(np.linalg.norm(ridge(data, lam, 1.0)[0])) for data in (small, large)]
        assert abs(sizes[1] - sizes[0]) <= np.log1p(1 / h) * (1 + 1e-9)
        reached = max(reached, abs(sizes[1] - sizes[0]) / np.log1p(1 / h))
    assert reached > 0.5


@pytest.mark.parametrize("n", [1, 40])
def test_the_adaptive_bounds_fail_no_more_often_than_promised(n: int) -> None:
    """For either of two neighbours as the input, about the smaller one; a right share fails with probability 1e-6."""
    mechanism = AdaptivePosteriorSample(3.0, 0.3)
    small = np.tile(RECORD, (n, 1))
    for data in (small, np.vstack([small, RECORD])):
        outputs = mechanism.sample(data, 20_000, np.random.default_rng(14))
        lam, floor = mechanism.regularisation(outputs[:, 0])
        too_high = floor - lam > n
        fit = n / (n + lam)
        bound = np.exp(np.maximum(0, outputs[:, 1] + np.log1p(1 / floor) * mechanism.margin))
        too_short = bound < 1 + fit
        for failures in (too_high, too_short):
            assert stats.binomtest(int(failures.sum()), 20_000, 0.1, alternative="greater").pvalue > 1e-6
    assert too_high.sum() > 100  # the larger input uses up what is allowed, but for the floor of 0


@pytest.mark.parametrize("delta", [0.3, 1e-5])
def test_the_last_step_spends_half_of_epsilon_and_a_third_of_delta(delta: float) -> None:
    """Exactly, for leverages up to 1/h and residuals up to L, where the bounds of the first two steps hold."""
    mechanism = AdaptivePosteriorSample(2.0, delta)
    for noisy in (-5.0, 100.0, 500.0):
        _, floor = mechanism.regularisation(np.array([noisy]))
        log_size = 0.4
        gamma = float(np.exp(mechanism.log_precision(floor, np.array([log_size])))[0])
        length = float(np.exp(log_size + np.log1p(1 / floor[0]) * mechanism.margin))
        for m in np.array([0.1, 0.5, 1.0]) / floor[0]:
            for residual in (0.0, length / 2, length):
                small, large = (residual, np.sqrt(m / gamma)), (residual / (1 + m), np.sqrt(m / (1 + m) / gamma))
                assert exact_delta(1.0, small, large) <= delta / 3


def test_the_adaptive_transcripts_keep_the_promise() -> None:
    """delta(epsilon) = E max(0, 1 - e^(epsilon - L)) of the whole transcript, by simulation with its error."""
    mechanism = AdaptivePosteriorSample(0.8, 0.2)
    for small in (NOTHING, np.tile(RECORD, (40, 1))):
        large = np.vstack([small, RECORD * [1, -1]])
        for here, there in ((small, large), (large, small)):
            outputs = mechanism.sample(here, 20_000, np.random.default_rng(15))
            loss = mechanism.log_density(here, outputs) - mechanism.log_density(there, outputs)
            excess = np.maximum(0, -np.expm1(0.8 - loss))
            assert excess.mean() + 5 * excess.std() / np.sqrt(20_000) < 0.2
            assert np.abs(loss).max() > 0.2  # they are told apart a little


def test_more_data_mean_less_regularisation() -> None:
    mechanism = AdaptivePosteriorSample(1.0, 1e-5)
    few, many = (mechanism.sample(np.tile(RECORD, (n, 1)), 500, np.random.default_rng(16)) for n in (10, 400))
    assert np.median(mechanism.regularisation(few[:, 0])[0]) > 40
    assert np.median(mechanism.regularisation(many[:, 0])[0]) == 1
    assert np.abs(many[:, 2] - 1).mean() < np.abs(few[:, 2] - 1).mean()


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_the_promise(entry: object) -> None:
    assert entry.build(0.3).guarantee == Guarantee(0.3, "add-remove", 1e-5)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (np.zeros((0, 2)), r"shape \(0, 2\)"),
        (np.zeros(3), r"shape \(3,\)"),
        (np.array([[1.5, 0.0]]), r"\|x\| = 1.5"),
        (np.array([[1.0, -2.0]]), r"\|y\| = 2"),
        (np.array([[np.nan, 0.0]]), "missing or infinite"),
        (np.zeros((4, 2)), "4 records; the public bound is 3"),
    ],
)
def test_bad_data_are_refused(data: NDArray[np.float64], sentence: str) -> None:
    with pytest.raises(EpsilometerError, match=sentence):
        OnePosteriorSample(1.0, 1e-5, 3).sample(data, 1, np.random.default_rng(0))


def test_bad_parameters_are_refused() -> None:
    with pytest.raises(EpsilometerError, match="delta is 0; a Gaussian posterior sample needs"):
        OnePosteriorSample(1.0, 0.0, 3)
    with pytest.raises(EpsilometerError, match="delta is 0; a Gaussian posterior sample needs"):
        AdaptivePosteriorSample(1.0, 0.0)
    with pytest.raises(EpsilometerError, match=r"delta is 1\.5"):
        AdaptivePosteriorSample(1.0, 1.5)
    with pytest.raises(EpsilometerError, match="epsilon is -1"):
        OnePosteriorSample(-1.0, 1e-5, 3)
    with pytest.raises(EpsilometerError, match="most_records is 0"):
        OnePosteriorSample(1.0, 1e-5, 0)
