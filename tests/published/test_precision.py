"""Precision against Figures 32 to 34 of Sweeney's report."""

import pyarrow as pa
import pytest

import tacit

KEYS = ["Ethnicity", "Birth", "Sex", "ZIP"]


@pytest.fixture
def to_release(fig28):
    """Put the printed key values of a figure in the place of the original ones."""

    def make(rows):
        columns = zip(*rows, strict=True)
        return fig28.replace(
            {
                key: pa.array([v or None for v in column])
                for key, column in zip(KEYS, columns, strict=True)
            }
        )

    return make


def all_three(released, original):
    return {
        a: tacit.Precision(accounting=a).measure(released, original=original).precision
        for a in ("strict", "legacy", "released")
    }


def test_datafly(fig28, published):
    figure = published("fig34_precision")
    found = all_three(tacit.Datafly(k=2, max_drop=1).apply(fig28, seed=1), fig28)
    assert found["legacy"] == pytest.approx(figure["legacy"]["Datafly"], abs=1e-6)
    assert found["strict"] == pytest.approx(figure["strict"]["Datafly"], abs=1e-6)
    assert found["released"] == pytest.approx(figure["released_only"]["Datafly"], abs=1e-6)
    assert round(found["legacy"], 2) == figure["published"]["Datafly"]


def test_mu_argus_as_printed(fig28, published, to_release):
    figure = published("fig34_precision")
    printed = [row[1:] for row in published("fig30_muargus")["printed_figure_30"]]
    found = all_three(to_release(printed), fig28)
    strict = figure["strict"]["mu-Argus as printed (Ethnicity+Birth of tuple 8)"]
    assert found["strict"] == pytest.approx(strict, abs=1e-6)
    assert found["legacy"] == pytest.approx(figure["legacy"]["mu-Argus"], abs=1e-6)
    assert round(found["legacy"], 2) == figure["published"]["mu-Argus"]


def test_mu_argus_corrected(fig28, published, to_release):
    figure = published("fig34_precision")
    corrected = [row[1:] for row in published("fig30_muargus")["printed_figure_30"]]
    corrected[7] = ["", "1965", "f", ""]
    found = all_three(to_release(corrected), fig28)
    strict = figure["strict"]["mu-Argus corrected (Ethnicity+ZIP of tuple 8)"]
    assert found["strict"] == pytest.approx(strict, abs=1e-6)
    assert found["legacy"] == pytest.approx(figure["legacy"]["mu-Argus"], abs=1e-6)


def test_k_similar(fig28, published, to_release):
    figure, table = published("fig34_precision"), published("fig33_ksimilar")["expected"]
    released = to_release(table["released_qi"])
    found = all_three(released, fig28)
    assert found["strict"] == pytest.approx(table["precision"], abs=1e-9)
    assert found["strict"] == pytest.approx(figure["strict"]["k-Similar"], abs=1e-6)
    assert found["legacy"] == pytest.approx(figure["legacy"]["k-Similar"], abs=1e-6)
    assert round(found["legacy"], 2) == figure["published"]["k-Similar"]
    losses = tacit.Precision().measure(released, original=fig28).losses
    assert sum(loss.charge() for loss in losses.values()) == pytest.approx(table["total_distance"])


def test_heights_are_those_of_figure_34(fig28, published):
    figure = published("fig34_precision")
    losses = tacit.Precision().measure(fig28, original=fig28).losses
    assert {c: loss.height for c, loss in losses.items()} == figure["heights"]
    assert len(losses) == figure["N_A"]
