"""Random numbers of runs: what they depend on, what a given seed may do, and the order of released records."""

import pickle

import numpy as np
import pyarrow as pa
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
from randomgen import ChaCha

import tacit
from tacit.cli.app import main
from tacit.context import Context
from tacit.errors import DisclosureRefused
from tacit.io import write
from tacit.numerics.streams import KeyedSequence, block_rng, generator_of, seed_of

N = 400


def people(n=N, shift=0.0):
    rng = np.random.default_rng(3)
    table = pa.table(
        {
            "name": [f"p{i}" for i in rng.permutation(n)],
            "sex": rng.choice(["f", "m"], n),
            "age": np.arange(n) // 10,
            "income": 20_000 + np.arange(n) * 10 + shift,
        }
    )
    return tacit.read(table, identifiers=["name"], keys=["sex", "age"])


def incomes(release):
    return release.data.to_arrow().column("income").to_numpy().astype(float)


def noise(sd):
    return tacit.AddNoise(columns=["income"], sd=sd)


def plan(*steps, **sections):
    return tacit.Plan([tacit.Deidentify(), *steps], **sections)


# -- what the numbers depend on --------------------------------------------------------------------


def test_the_generator_is_chacha20_as_published():
    key = np.arange(4, dtype=np.uint64)
    stream = Cipher(algorithms.ChaCha20(key.tobytes(), bytes(16)), None).encryptor()
    assert ChaCha(key=key, rounds=20).random_raw(16).tobytes() == stream.update(bytes(128))
    rng = Context.start().rng
    state = rng.bit_generator.state
    assert state["bit_generator"].endswith("ChaCha")
    assert state["state"]["rounds"] == 20
    assert (
        len(set(state["state"]["keysetup"].tolist())) == 8
    )  # 256 bits of key, none of them left zero


def test_a_given_seed_alone_is_for_study():
    one, two = (Context.start(7, step=2).rng.random(4) for _ in range(2))
    assert (one == two).all()
    expected = np.random.default_rng(np.random.SeedSequence(7, spawn_key=(2,))).random(4)
    assert (one == expected).all()
    assert (Context.start().rng.random(4) != Context.start().rng.random(4)).all()


def test_seed_step_and_key_each_give_other_numbers():
    drawn = {
        (seed, step, key): tuple(Context.start(seed, step=step, key=key).rng.random(3))
        for seed in (1, 11)
        for step in (1, 2)
        for key in (b"", b"1", b"2")
    }
    assert len(set(drawn.values())) == len(drawn)
    assert tuple(Context.start(1, step=2, key=b"1").rng.random(3)) == drawn[1, 2, b"1"]


def test_children_and_blocks_of_a_keyed_stream_never_meet():
    root = KeyedSequence.of(5, 1, b"x")
    rng = generator_of(root)
    first, second = rng.spawn(2)
    third = rng.spawn(1)[0]
    below = first.spawn(2)[1]
    blocks = [block_rng(root, b, s) for b in (0, 1) for s in (0, 1)]
    drawn = [g.random() for g in (rng, first, second, third, below, *blocks)]
    assert len(set(drawn)) == len(drawn)
    assert block_rng(seed_of(rng), 1, 1).random() == drawn[-1]
    travelled = pickle.loads(pickle.dumps(seed_of(rng)))  # as to the workers of an engine
    assert block_rng(travelled, 1, 1).random() == drawn[-1]


def test_two_plans_with_one_seed_share_no_noise():
    data = people()
    original = data.to_arrow().column("income").to_numpy()
    research, public = (incomes(plan(noise(sd)).run(data, seed=7)) for sd in (500, 1000))
    guess = 2 * research - public
    assert np.abs(guess - original).min() > 1e-6
    assert abs(np.corrcoef(research - original, public - original)[0, 1]) < 0.2
    again = incomes(plan(noise(500)).run(data, seed=7))
    assert (again == research).all()


def test_other_data_have_other_noise():
    here, there = people(), people(shift=1.0)
    one, two = (incomes(plan(noise(500)).run(d, seed=7)) for d in (here, there))
    assert np.abs(two - one - 1.0).min() > 1e-6


def test_the_same_parameters_in_another_place_have_other_noise():
    data = people()
    original = data.to_arrow().column("income").to_numpy()
    once = incomes(plan(noise(500)).run(data, seed=7)) - original
    twice = incomes(plan(noise(500), noise(500)).run(data, seed=7)) - original
    assert np.abs(twice - 2 * once).min() > 1e-6


# -- a given seed ------------------------------------------------------------------------------------


@pytest.mark.parametrize("access", ["Pu", "SPu"])
def test_a_given_seed_does_not_go_to_the_public_unless_asked_for_by_name(tmp_path, access):
    release = plan(noise(500), access=access, seed=7).run(people())
    assert release.for_study
    with pytest.raises(DisclosureRefused, match="study_seed=True"):
        release.write(tmp_path / "out")
    assert not (tmp_path / "out").exists()
    out = release.write(tmp_path / "out", study_seed=True)
    assert "for study" in (out / "statement.md").read_text()


def test_without_chance_without_a_seed_or_inside_there_is_nothing_to_refuse(tmp_path):
    assert plan(access="Pu", seed=7).run(people()).write(tmp_path / "a").exists()
    assert plan(noise(500), access="Pu").run(people()).write(tmp_path / "b").exists()
    assert plan(noise(500), access="SPr", seed=7).run(people()).write(tmp_path / "c").exists()


def test_the_shell_refuses_and_takes_study_seed(tmp_path, capsys):
    write(people(), tmp_path / "people.csv")
    (tmp_path / "plan.yaml").write_text(
        "tacit: 1\nsource: people.csv\nroles: {identifiers: [name], keys: [sex, age]}\naccess: Pu\n"
        "steps: [deidentify, {kind: add_noise, columns: [income], sd: 500}]\nseed: 7\n"
    )
    assert main(["run", str(tmp_path / "plan.yaml")]) == 1
    assert "--study-seed" in capsys.readouterr().err
    assert main(["run", str(tmp_path / "plan.yaml"), "--study-seed"]) == 0


# -- order ---------------------------------------------------------------------------------------------


def released_incomes(folder):
    return tacit.read(folder / "data.csv").to_arrow().column("income").to_numpy()


def test_records_go_out_in_a_drawn_order_and_verify(tmp_path):
    data = people()
    release = plan(noise(500)).run(data)
    out = release.write(tmp_path / "out")
    shown, held = released_incomes(out), incomes(release)
    assert np.sort(shown) == pytest.approx(np.sort(held))
    # A uniform order has a rank correlation of about 1 / sqrt(n) with the source's; five times that is rare.
    assert abs(np.corrcoef(np.argsort(np.argsort(shown)), np.arange(N))[0, 1]) < 5 / N**0.5
    assert tacit.verify(out, data), tacit.verify(out, data)


def test_the_order_is_kept_on_purpose_alone_and_said(tmp_path):
    for word in ("kept", "keep"):
        kept = plan(noise(500), output={"folder": "x", "order": word}).run(people())
        out = kept.write(tmp_path / word)
        assert released_incomes(out) == pytest.approx(incomes(kept))
        assert "keep the order of the source" in (out / "statement.md").read_text()


def test_a_deterministic_plan_draws_the_order_too(tmp_path):
    data = people()
    release = plan().run(data)
    assert not release.random
    out = release.write(tmp_path / "out")
    shown, held = released_incomes(out), incomes(release)
    assert sorted(shown) == pytest.approx(sorted(held))
    assert list(shown) != list(held)
    assert "order of the source" not in (out / "statement.md").read_text()
    assert tacit.verify(out, data), tacit.verify(out, data)


def test_two_releases_of_one_file_do_not_join_by_line(tmp_path):
    data = people()
    halves = [plan(tacit.RemoveColumns(columns=["sex"])).run(data), plan().run(data)]
    first, second = (released_incomes(h.write(tmp_path / f"half{i}")) for i, h in enumerate(halves))
    assert np.mean(first == second) < 0.1


def test_the_seed_of_the_ledger_gives_the_order_again(tmp_path):
    data = people()
    release = plan().run(data)
    again = plan().run(data, seed=release.ledger.seed)
    assert again.written.to_arrow().equals(release.written.to_arrow())
    other = plan().run(data)
    assert not other.written.to_arrow().equals(release.written.to_arrow())


def households(n=60):
    ids = np.repeat(np.arange(n) + 1000, 3)
    return tacit.read(
        pa.table({"home": ids, "size": np.arange(3 * n) % 7, "age": np.arange(3 * n) % 80}),
        household="home",
    )


def test_households_get_new_numbers_that_do_not_tell_the_old_ones(tmp_path):
    data = households()
    release = tacit.Plan([tacit.RemoveColumns(columns=["size"])]).run(data)
    out = tacit.read(release.write(tmp_path / "out") / "data.csv").to_arrow()
    homes, ages = out.column("home").to_numpy(), out.column("age").to_numpy()
    assert list(dict.fromkeys(homes)) == list(range(1, 61))
    # The members of a household are still together, as their ages tell.
    old = {frozenset(np.arange(3 * i, 3 * i + 3) % 80) for i in range(60)}
    assert {frozenset(ages[homes == h]) for h in range(1, 61)} == old
    kept = tacit.Plan(
        [tacit.RemoveColumns(columns=["size"])], output={"folder": "x", "order": "keep"}
    ).run(data)
    assert kept.written.to_arrow().column("home").to_pylist()[0] == 1000
    assert any("'home'" in sentence for sentence in kept.attention)


def test_pseudonyms_of_households_stay_as_the_plan_made_them():
    data = households()
    release = tacit.Plan([tacit.Pseudonymise(columns=["home"])]).run(data)
    made, written = (
        d.to_arrow().column("home").to_pylist() for d in (release.data, release.written)
    )
    assert sorted(made) == sorted(written)
    assert made != written


def test_parquet_tells_nothing_of_the_order_of_the_source(tmp_path):
    import pyarrow.parquet as pq

    values = [f"v{i:03}" for i in range(500)]
    table = pa.table(
        {"c": pa.array(values).dictionary_encode(), "x": np.random.default_rng(1).permutation(500)}
    )
    pq.write_table(table, tmp_path / "source.parquet")
    data = tacit.read(tmp_path / "source.parquet")
    out = tacit.Plan([tacit.RemoveColumns(columns=["x"])], output={"allowed": ["c"]}).run(data)
    file = pq.ParquetFile(out.write(tmp_path / "out", format="parquet") / "data.parquet")
    assert file.schema_arrow.names == ["c"]
    read = pq.read_table(tmp_path / "out" / "data.parquet", read_dictionary=["c"]).column("c")
    assert read.combine_chunks().dictionary.to_pylist() != values
    assert b"__" not in b"".join((file.schema_arrow.metadata or {}).values())


# -- pseudonyms without a key --------------------------------------------------------------------------


def test_pseudonyms_without_a_key_verify_and_differ_from_run_to_run(tmp_path):
    data = people(40)
    made = tacit.Plan([tacit.Pseudonymise()])
    first, second = made.run(data), made.run(data)
    tokens = [r.data.to_arrow().column("name").to_pylist() for r in (first, second)]
    assert not set(tokens[0]) & set(tokens[1])
    out = first.write(tmp_path / "out")
    found = tacit.verify(out, data)
    assert found, found
    assert ("re-run gives the same data", True, "") in found.checks
