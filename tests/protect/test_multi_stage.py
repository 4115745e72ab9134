import numpy as np
import pytest

import tacit
from tacit.errors import InvalidParameter, WeakProtection

MICZ = {"kind": "sort_by_zscores", "k": 3}
MDAV = {"kind": "mdav", "k": 5}


def read(n=120, seed=0):
    x = np.random.default_rng(seed).multivariate_normal([0, 5], [[1, 0.4], [0.4, 1]], n)
    return tacit.read({"a": x[:, 0], "b": x[:, 1]})


def array(data):
    return np.column_stack([data.column(c).to_numpy() for c in "ab"])


def masked(kind, x):
    data = tacit.read({"a": x[:, 0], "b": x[:, 1]})
    return array(tacit.registry.lookup(kind["kind"])(**{k: v for k, v in kind.items() if k != "kind"}).apply(data, seed=0))  # fmt: skip


def test_is_the_recursion():
    data = read()
    x0 = array(data)
    x1 = masked(MICZ, x0)
    x2 = x1 + masked(MDAV, x1 - x0)
    x3 = x2 + masked(MICZ, x2 - x0)
    method = tacit.MultiStage(stages=[MICZ, MDAV, MICZ])
    assert array(method.apply(data, seed=5)) == pytest.approx(x3, abs=1e-12)
    assert [s.released for s in method.intermediates(data, seed=5)][1] == pytest.approx(x2)


def test_restores_step_by_step():
    data = read()
    x0 = array(data)
    x1 = masked(MICZ, x0)
    x2 = x1 + masked(MDAV, x0 - x1)
    x3 = x2 + masked(MDAV, x0 - x2)
    with pytest.warns(WeakProtection):
        released = tacit.MultiStage(stages=[MICZ, MDAV, MDAV], residual="restore").apply(
            data, seed=1
        )
    assert array(released) == pytest.approx(x3, abs=1e-12)


def test_two_stages_are_two_stage():
    data = read()
    two = tacit.TwoStage(first=MICZ, second={"kind": "local_noise"}).apply(data, seed=8)
    many = tacit.MultiStage(stages=[MICZ, {"kind": "local_noise"}]).apply(data, seed=8)
    assert array(two).tolist() == array(many).tolist()


def test_exact_restoring_noise_at_the_end_restores_the_moments():
    data = read()
    stages = [MICZ, {"kind": "restoring_noise"}]
    released = array(tacit.MultiStage(stages=stages).apply(data, seed=2))
    assert np.cov(released.T) == pytest.approx(np.cov(array(data).T), abs=1e-10)


def test_stages_are_a_list_of_at_least_two_methods():
    with pytest.raises(InvalidParameter, match="stages must have at least 2 entries"):
        tacit.MultiStage(stages=[MICZ])
    with pytest.raises(InvalidParameter, match=r"stages.1 Mdav: k must be at least 2"):
        tacit.MultiStage(stages=[MICZ, {"kind": "mdav", "k": 0}])
    with pytest.raises(InvalidParameter, match="stages must be"):
        tacit.MultiStage(stages="mdav")


def test_command_line_takes_stages_as_yaml(tmp_path):
    from tacit.cli import main

    source, out = tmp_path / "in.csv", tmp_path / "out.csv"
    x = array(read())
    np.savetxt(source, x, delimiter=",", header="a,b", comments="")
    stages = "[{kind: sort_by_zscores}, {kind: mdav, k: 5}]"
    assert main(["apply", "multi-stage", str(source), "--stages", stages, "--seed", "1", "--out", str(out)]) == 0  # fmt: skip
    released = np.loadtxt(out, delimiter=",", skiprows=1)
    assert released.mean(axis=0) == pytest.approx(x.mean(axis=0))
    two = ["--first", "{kind: mdav, k: 4}", "--second", "{kind: mdav}", "--force", "--seed", "1"]
    assert main(["apply", "two-stage", str(source), *two, "--out", str(out)]) == 0
