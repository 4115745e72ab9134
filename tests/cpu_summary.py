"""A plugin that lists every test with its outcome and CPU seconds, the most expensive first.

``PYTHONPATH=tests pytest -p cpu_summary``; ``--cpu-top 40`` lists the first forty. Seconds are those of the
test's process and of the processes it has waited for, so that they mean the same on a busy machine.
"""

import os

import pytest


def pytest_addoption(parser):
    parser.addoption("--cpu-top", type=int, default=0, help="tests to list; 0 lists all of them")


def cpu_seconds():
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    item.stash[STARTED] = cpu_seconds()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    report.user_properties.append(("cpu_seconds", cpu_seconds() - item.stash[STARTED]))
    return report


STARTED = pytest.StashKey[float]()


def pytest_terminal_summary(terminalreporter, config):
    rows = outcomes(terminalreporter)
    if not rows:
        return
    shown = config.getoption("--cpu-top") or len(rows)
    terminalreporter.section("outcome and CPU seconds")
    for name, (outcome, seconds) in sorted(rows.items(), key=lambda row: -row[1][1])[:shown]:
        terminalreporter.write_line(f"{outcome:8}{seconds:9.2f}  {name}")
    terminalreporter.write_line(closing_line(rows))


def outcomes(terminalreporter):
    """The outcome and the seconds of each test: a failure in any phase is a failure of the test."""
    rows = {}
    for outcome in ("passed", "skipped", "xfailed", "failed", "error"):
        for report in terminalreporter.stats.get(outcome, ()):
            seconds = dict(report.user_properties).get("cpu_seconds", 0.0)
            rows[report.nodeid] = (outcome, max(seconds, rows.get(report.nodeid, ("", 0.0))[1]))
    return rows


def closing_line(rows):
    """One line: how many tests ended in which way, and what they cost together."""
    ends = [outcome for outcome, _ in rows.values()]
    counts = ", ".join(f"{ends.count(end)} {end}" for end in dict.fromkeys(sorted(ends)))
    return f"{len(rows)} tests: {counts}; {sum(s for _, s in rows.values()):.0f} CPU seconds"
