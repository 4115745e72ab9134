"""Warnings silenced in threads come back, whichever thread ends last."""

import threading
import warnings

import pytest

import tacit
from tacit.errors import SdcWarning
from tacit.records.microaggregation.grouping.clustering import Silence


def test_filters_are_as_before_when_threads_overlap():
    silence, before = Silence(), list(warnings.filters)
    first_in, second_in, first_out = (threading.Event() for _ in range(3))

    def first():
        with silence:
            first_in.set()
            second_in.wait(10)
        first_out.set()

    def second():
        first_in.wait(10)
        with silence:
            second_in.set()
            first_out.wait(10)
            warnings.warn("not heard", RuntimeWarning, stacklevel=1)

    threads = [threading.Thread(target=work) for work in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(warnings.filters) == before


def test_what_tacit_says_is_heard():
    with warnings.catch_warnings(record=True) as heard, Silence():
        warnings.warn("of a library", UserWarning, stacklevel=1)
        warnings.warn("of tacit", SdcWarning, stacklevel=1)
    assert [str(w.message) for w in heard] == ["of tacit"]


@pytest.mark.parametrize("cluster", ["gmm", "kmeans"])
def test_clusters_of_many_strata_leave_the_filters_alone(cluster):
    pytest.importorskip("sklearn")
    table = {"x": [float(i % 3) for i in range(240)], "y": [float(i % 2) for i in range(240)]}
    data = tacit.read({**table, "stratum": [i % 8 for i in range(240)]}, stratum="stratum")
    before = list(warnings.filters)
    tacit.InfluenceGroups(columns=["x", "y"], cluster=cluster, by=["stratum"]).apply(data, seed=1)
    assert list(warnings.filters) == before
