"""The letters in the package: written by the script, taken in turn, and no more than there are."""

from __future__ import annotations

import json
import lzma

import pytest

import letters
import tacit.examples
from letters.pack import EACH, pack
from tacit.errors import InputError
from tacit.examples.letters import PACKED, all_families
from tacit.examples.notes import SHORT, write_notes
from tacit.report import texts

FEW = ("certificate", "de_befund", "discharge", "eponyms", "fragments")


def test_the_packed_file_is_what_the_script_writes():
    held = json.loads(lzma.decompress(PACKED.read_bytes()))
    written = letters.all_families()
    assert {n: (f["split"], f["language"]) for n, f in held.items()} == {
        n: (f.split, f.language) for n, f in written.items()
    }
    assert list(held) == list(written)
    assert {len(f["letters"]) for f in held.values()} == {EACH}
    # Through JSON, so that both sides hold lists.
    assert {n: held[n] for n in FEW} == json.loads(json.dumps(pack(written[n] for n in FEW)))
    assert PACKED.stat().st_size < 400_000


def test_the_first_seed_takes_what_the_writer_writes():
    for language, split in (("en", None), ("de", None), (None, "test")):
        taken = tacit.examples.letters(60, split=split, language=language)
        assert taken == letters.write_letters(60, split=split, language=language)


def test_seeds_take_letters_in_other_orders():
    taken = {s: tacit.examples.letters(40, seed=s, families=FEW[2:4]) for s in (1, 2, 3)}
    for corpus in taken.values():
        assert sorted(d.name for d in corpus) == sorted(d.name for d in taken[1])
        assert [d.name.split("-")[0] for d in corpus] == ["discharge", "eponyms"] * 20
    assert len({tuple(d.name for d in corpus) for corpus in taken.values()}) == 3
    again = tacit.examples.letters(20, seed=2, families=FEW[2:4])
    assert again.documents == taken[2].documents[:20]


def test_there_are_a_thousand_english_letters_and_no_more():
    assert len(tacit.examples.letters()) == 1000
    with pytest.raises(InputError, match=r"There are 1000 letters .* 1001 .* examples/letters"):
        tacit.examples.letters(1001)
    with pytest.raises(InputError, match="There are 20 letters"):
        tacit.examples.letters(21, seed=4, families=["discharge"])


def test_what_cannot_be_had_is_refused_in_a_sentence():
    with pytest.raises(InputError, match="no family 'nothing'"):
        tacit.examples.letters(1, families=["nothing"])
    with pytest.raises(InputError, match="no split"):
        tacit.examples.letters(1, split="validation")
    with pytest.raises(InputError, match="No family is left"):
        tacit.examples.letters(1, families=["discharge"], split="test")
    with pytest.raises(InputError, match="negative"):
        tacit.examples.letters(-1)


def test_the_example_of_files_refuses_before_it_writes(tmp_path):
    there = EACH * len(SHORT)
    assert write_notes(tmp_path / "all", n=there).exists()
    with pytest.raises(InputError, match=f"There are {there} letters"):
        write_notes(tmp_path / "none", n=there + 1)
    assert not (tmp_path / "none").exists()


def test_a_report_on_the_example_shows_none_of_its_letters(tmp_path):
    write_notes(tmp_path)
    held = {f.stem for f in (tmp_path / "letters").iterdir()}
    shown = {all_families()[f].document(i).name for f, i in (*texts.ENGLISH, *texts.GERMAN)}
    assert len(shown) == 4
    assert not held & shown
