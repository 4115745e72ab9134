"""Every test has a budget of its own."""

import pytest


@pytest.fixture(autouse=True)
def own_budget(tmp_path, monkeypatch):
    monkeypatch.setenv("TACIT_BUDGET", str(tmp_path / "own" / "budget.json"))
