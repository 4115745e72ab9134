"""Cells that a decision names stay out of what the public sees."""

import tacit


def test_decisions_by_hand_do_not_name_their_cells_in_public():
    step = tacit.SetStatus(cells=[("N", "food")], status="unsafe", lower=3, upper=7)
    public = step.to_dict(public=True)
    assert set(public) == {"kind", "status"}
    assert step.to_dict()["cells"] == [["N", "food"]]
    assert "food" not in repr(step)


def test_measures_do_not_name_protected_entries_in_public():
    asked = tacit.EntryUniqueness(protected=[("N", "food")], entries=[("S", "steel")])
    public = str(asked.to_dict(public=True))
    assert "food" not in public
    assert "steel" not in public


def test_the_written_folder_and_the_history_name_no_cell(tmp_path):
    table = tacit.Table.from_array(
        [[20.0, 50, 10], [8, 19, 22], [17, 32, 12]], totals=False, codes=[["p", "q", "r"]] * 2
    )
    table = tacit.SetStatus(cells=[("p", "q")], status="unsafe", lower=5, upper=5).apply(table)
    assert "cells" not in table.history[-1].parameters
    assert table.history[-1].private["cells"] == [["p", "q"]]
