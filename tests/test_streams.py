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
from tacit.streams import KeyedSequence, block_rng, generator_of, seed_of

N = 400


def people(n=N, shift=0.0):
    rng = np.random.default_rng(3)
    table = pa.table(
        {
            "name": [f"p{i}" for i in range(n)],
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
    release = plan(noise(1)).run(data)
    out = release.write(tmp_path / "out")
    shown, held = released_incomes(out), incomes(release)
    assert np.sort(shown) == pytest.approx(np.sort(held))
    # A uniform order has a rank correlation of about 1 / sqrt(n) with the source's; five times that is rare.
    assert abs(np.corrcoef(np.argsort(np.argsort(shown)), np.arange(N))[0, 1]) < 5 / N**0.5
    assert tacit.verify(out, data), tacit.verify(out, data)


def test_the_order_is_kept_on_purpose_or_where_nothing_needs_hiding(tmp_path):
    kept = plan(noise(1), output={"folder": "x", "order": "kept"}).run(people())
    assert released_incomes(kept.write(tmp_path / "kept")) == pytest.approx(incomes(kept))
    plain = plan().run(people())
    assert released_incomes(plain.write(tmp_path / "plain")) == pytest.approx(incomes(plain))


def test_dropping_records_draws_the_order(tmp_path):
    rare = pa.table({"zip": ["a"] * 60 + ["b"] * 2 + ["c"] * 60, "income": range(122)})
    data = tacit.read(rare, keys=["zip"], hierarchies={"zip": tacit.hierarchy.flat()})
    release = tacit.Plan([tacit.Datafly(k=3, max_drop=2)]).run(data)
    assert release.ledger.entries[-1].changes["dropped"] == 2
    assert not release.random
    shown = released_incomes(release.write(tmp_path / "out"))
    assert sorted(shown) == sorted(incomes(release))
    assert list(shown) != list(incomes(release))


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
