"""Three hospitals that may not pool their files: data, certificates, an agreement, and a trial run on this machine."""

from __future__ import annotations

import csv
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.special import expit

from tacit.errors import InputError, PartyMissing, SdcError
from tacit.private.parties.certificates import make_certificates
from tacit.private.settings import read_party

HOSPITALS = ("riverside", "northfield", "eastgate")
FORMULA = "readmitted ~ age + stay + C(ward)"
WARDS = ("medical", "surgical", "elderly")


def write_parties(folder: str | Path, n: int = 600, seed: int = 1) -> Path:
    """Write the files of three hospitals of different sizes, and everything that a run needs."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    ports = free_ports(len(HOSPITALS))
    for i, name in enumerate(HOSPITALS):
        write_patients(target / f"{name}.csv", name, n // (i + 1) + 40, rng)
    make_certificates(target / "certificates", HOSPITALS)
    addresses = "".join(f"  {h}: 127.0.0.1:{p}\n" for h, p in zip(HOSPITALS, ports, strict=True))
    (target / "agreement.yaml").write_text(
        f"# The same file at every party.\nrun: trial-1\ntask:\n  kind: logistic\n  formula: {FORMULA}\n"
        f"  protocol: pairwise_masks\n  levels: {{ward: [{', '.join(WARDS)}]}}\nparties:\n{addresses}",
        encoding="utf-8",
    )
    for name in HOSPITALS:
        (target / f"{name}.yaml").write_text(
            f"# Only at {name}.\nname: {name}\nagreement: agreement.yaml\ndata: {name}.csv\n"
            f"authority: certificates/authority.pem\ncertificate: certificates/{name}.pem\n"
            f"key: certificates/{name}.key\njournal: {name}-journal\nout: {name}-result\n",
            encoding="utf-8",
        )
    return target


def write_patients(file: Path, hospital: str, n: int, rng: np.random.Generator) -> None:
    """Write invented patients of one hospital."""
    age = rng.integers(18, 95, n)
    # In hours, so that it has many values at every hospital.
    stay = np.round(12 + rng.gamma(3, 40, n)).astype(int)
    ward = rng.choice(WARDS, n, p=(0.5, 0.3, 0.2))
    odds = -3 + 0.03 * age + 0.003 * stay - 0.4 * (ward == "surgical")
    again = (rng.uniform(size=n) < expit(odds)).astype(int)
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["patient", "age", "stay", "ward", "readmitted"])
        columns = (c.tolist() for c in (age, stay, ward, again))
        rows = enumerate(zip(*columns, strict=True))
        writer.writerows([f"{hospital[:1].upper()}{i:05d}", *row] for i, row in rows)


def free_ports(n: int) -> list[int]:
    """Return ports that nobody listens on at present."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(n)]
    ports = [int(s.getsockname()[1]) for s in sockets]
    for s in sockets:
        s.close()
    return ports


@dataclass(frozen=True)
class Trial:
    """What a trial run showed: the joint fit beside the pooled one."""

    joint: dict[str, float]
    pooled: dict[str, float]

    @property
    def largest_difference(self) -> float:
        """Return the largest difference between two coefficients."""
        return max(abs(self.joint[k] - self.pooled[k]) for k in self.pooled)


def run_trial(folder: str | Path, *, timeout: float = 300.0) -> Trial:
    """Run every party of a folder as its own process on this machine, then pool their files and compare.

    Pooling is what a real consortium may not do; here it shows that the joint fit is the same.
    """
    import json

    base = Path(folder)
    files = sorted(f for f in base.glob("*.yaml") if f.name != "agreement.yaml")
    if not files:
        raise InputError(
            f"{base.name!r} holds no settings of parties; write some with: tacit example --of parties"
        )
    _, agreed = read_party(files[0].absolute())
    if agreed.task.kind in ("union", "count"):
        raise InputError(
            "a trial compares a joint fit with the pooled one; run the parties of a union with: tacit party run"
        )
    commands = [[sys.executable, "-m", "tacit", "party", "run", str(f)] for f in files]
    running = [
        subprocess.Popen(c, stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # noqa: S603 - our own program
        for c in commands
    ]
    try:
        told = [p.communicate(timeout=timeout) for p in running]
    except subprocess.TimeoutExpired:
        raise PartyMissing("the parties did not end in time") from None
    finally:
        for p in running:
            p.kill()
    for file, p, (_, error) in zip(files, running, told, strict=True):
        if p.returncode:
            raise SdcError(f"the party of {file.name} ended: {error.decode().strip()}")
    own, _ = read_party(files[0].absolute())
    joint = json.loads((base / own.out / "result.json").read_text())["coefficients"]
    return Trial(joint, fit_pooled(files))


def fit_pooled(files: Sequence[Path]) -> dict[str, float]:
    """Fit the pooled file by plain Newton steps, without any protocol."""
    from tacit.private.party import make_joint, read_table

    parts = []
    for file in files:
        own, agreed = read_party(file.absolute())
        joint, columns = make_joint(own, agreed, read_table(own, file.absolute().parent))
        parts.append(columns)
    task = agreed.task
    every = {c: np.concatenate([columns[c] for columns in parts]) for c in parts[0]}
    model = joint.family(every, own.name)
    beta = np.zeros(model.n_parameters)
    for _ in range(100):
        sums = model.combine(model.parts(beta))
        slope, square = sums.slope - task.ridge * beta, sums.information
        square = square + task.ridge * np.eye(len(beta))
        if task.firth:
            slope = model.firth_slope(beta, np.linalg.inv(square))
        step = np.linalg.solve(square, slope)
        beta = beta + step
        if np.abs(step).max() < 1e-12:
            break
    return dict(zip(joint.names(), beta.tolist(), strict=True))
