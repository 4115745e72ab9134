"""Figures 2, 3 and 5 of Heitzig (2006): what rises rises, what falls falls."""

from studies.protected_plots import charts, run


def test_noise_costs_and_protects_as_the_figures_say():
    tables = run(size="small", seed=1)
    two = tables["histogram"].rows(named=True)
    errors = [r["standard error"] for r in two]
    assert errors == sorted(errors)
    worth = [r["efficiency"] for r in two]
    assert worth == sorted(worth, reverse=True)
    assert all(r["efficiency"] > r["efficiency against the sample"] for r in two)
    three = {(r["bandwidth"], r["error"]): r for r in tables["density"].rows(named=True)}
    assert three[0.4, 1.0]["amplitude"] > three[1.0, 1.0]["amplitude"]
    assert three[0.4, 1.5]["amplitude"] > three[0.4, 1.0]["amplitude"]
    assert three[1.0, 1.5]["efficiency"] < three[1.0, 1.0]["efficiency"]
    five = {
        (r["trimmed"], r["amplitude"]): r["standard error"]
        for r in tables["outlier"].rows(named=True)
    }
    assert five[1, 0.5] > five[0, 0.5]
    assert all(c.svg() for c in charts(tables).values())
