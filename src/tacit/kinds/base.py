"""Kind: how one kind of data is read, compared, checked, described and written."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Generic

import numpy as np
from typing_extensions import TypeVar

from tacit.data.base import Data
from tacit.errors import InputError, PlanError, SdcError
from tacit.registry import lookup
from tacit.spec import Measure, Method

D = TypeVar("D", bound=Data)

#: How text begins that a spreadsheet runs; a lone sign is none. Wide forms of the signs count as well.
FORMULA = r"^(?:[=@\t\r\n＝＋－＠]|[+\-].)"


def map_files(rules: Any, find: Callable[[str], Any]) -> Any:
    """Return hierarchies by column with the files that they name as ``find`` gives them; a list of columns as it is."""
    if not isinstance(rules, Mapping):
        return rules
    return {c: find(rule) if isinstance(rule, str) else rule for c, rule in rules.items()}


class Kind(Generic[D]):
    """The adapter of one kind of data. A kind that is new to tacit says these few things about itself.

    A ``plan`` is a :class:`tacit.Plan`; only its sections and :meth:`~tacit.Plan.resolve` are used here.
    """

    #: The name that the data carry, and of the module.
    name: ClassVar[str]
    #: What it is counted in: records, cells, documents.
    noun: ClassVar[str]
    #: The formats in which it may be given away, the usual one first.
    formats: ClassVar[tuple[str, ...]]
    #: Stem of the released file, and its key in the manifest.
    stem: ClassVar[str] = "data"
    #: True when data of this kind hold nothing but what is written, so that what is measured on them alone is public.
    shows_all: ClassVar[bool] = False

    # -- coming in -----------------------------------------------------------------------------

    def holds_source(self, plan: Any) -> bool:
        """Return True when the plan's source holds data of this kind."""
        raise NotImplementedError

    def read(self, plan: Any) -> D:
        """Read the plan's source."""
        raise NotImplementedError

    def read_register(self, plan: Any, data: D) -> D | None:
        """Read the population register that the plan names, if any."""
        del plan, data
        return None

    def read_control(self, plan: Any, data: D) -> D | None:
        """Read the control records that the plan names, if any."""
        del plan, data
        return None

    def build(self, plan: Any, other: Data) -> D:
        """Make data of this kind from data of another, as the plan says."""
        del plan
        raise PlanError(f"a plan cannot make {self.noun} from a {other.kind}")

    def build_faults(self, plan: Any, other: Data) -> list[str]:
        """Return why :meth:`build` cannot start."""
        del plan
        return [f"the plan needs {self.noun}, and its source holds {other.kind}"]

    def read_partly(self, plan: Any) -> tuple[D | None, list[str]]:
        """Return the source as far as it can be read, and what is wrong with the rest of it."""
        try:
            return self.read(plan), []
        except SdcError as error:
            return None, [str(error)]

    def source_faults(self, plan: Any) -> list[str]:
        """Return what is wrong with reading the source, one fault per cause where possible."""
        return self.read_partly(plan)[1]

    def step_faults(self, steps: Sequence[Method[Any]], data: D) -> list[str]:
        """Return which steps could not work on the data as the steps before them leave these."""
        del steps, data
        return []

    # -- looking -------------------------------------------------------------------------------

    def fingerprint(self, data: D) -> str:
        """Return the SHA-256 of the content; equal content gives an equal one on every engine."""
        raise NotImplementedError

    def compare(self, before: D, after: D) -> dict[str, Any]:
        """Return what a step changed, in numbers, for the ledger."""
        raise NotImplementedError

    def describe(self, data: D) -> dict[str, Any]:
        """Return the public facts of the released data, for the statement; ``columns`` among them."""
        raise NotImplementedError

    def outline(self, before: int, data: D) -> dict[str, str]:
        """Return a few lines about what came in and goes out, for readers."""
        return {self.noun: f"{before:,} -> {len(data):,}"}

    def size(self, before: int, data: D) -> str:
        """Return how much came in and goes out, in words."""
        return f"{before:,} {self.noun} in, {len(data):,} out"

    def default_measures(self, data: D) -> list[str]:
        """Return the kinds that are measured when a plan names nothing."""
        del data
        return []

    def measures(self, data: D) -> tuple[Measure[Any], ...]:
        """Return the measures that are taken when a plan names nothing."""
        made = (lookup(kind)() for kind in self.default_measures(data))
        return tuple(m for m in made if isinstance(m, Measure))

    # -- going out -----------------------------------------------------------------------------

    def check(self, data: D) -> list[str]:
        """Return why the data may not be given away, whatever is claimed of them."""
        del data
        return []

    def undeclared(self, data: D, original: Any, allowed: Collection[str]) -> list[str]:
        """Return why the data may not be given away unless the plan allows columns by name."""
        del data, original, allowed
        return []

    def withhold(self, data: D) -> D:
        """Return the data without what only the steps needed and no release holds."""
        return data

    def open_points(self, data: D) -> list[str]:
        """Return what a reader of the release must not overlook, in sentences; it does not forbid a release."""
        del data
        return []

    def held_back(self, data: D) -> list[str]:
        """Return what users of the release might expect beside the data and do not get, with the reason, in sentences."""
        del data
        return []

    def undone(
        self,
        original: D,
        linked: D,
        data: D,
        later: Sequence[Method[Any]],
        allowed: Collection[str],
    ) -> tuple[list[str], list[str]]:
        """Return where released data tell what was hidden, in sentences: what is to be noted, and what forbids a release.

        ``original`` are the data before protection, ``linked`` the protected ones as long as their records could be
        followed, ``later`` the steps that have changed values after that, ``data`` the released ones, ``allowed`` what the
        plan accepts by name.
        """
        del original, linked, data, later, allowed
        return [], []

    def order_warning(self, data: D) -> str:
        """Return what the order of the source gives away when a plan keeps it; empty where it means nothing."""
        del data
        return ""

    def shuffle(self, data: D, rng: np.random.Generator) -> D:
        """Return the data with their records in a drawn order, for writing; by default as they are."""
        del rng
        return data

    def escape_formulas(self, data: D) -> D:
        """Return the data with text that a spreadsheet would run behind an apostrophe; by default as they are."""
        return data

    def write_public(self, data: D, folder: Path, form: str) -> dict[str, str]:
        """Write what may be given away; return the names of the files for the manifest."""
        raise NotImplementedError

    def read_back(self, data: D | None, folder: Path, names: Mapping[str, str]) -> Any:
        """Return the released file as claims are recomputed on it; None when that takes the full data.

        ``data`` are the full data where they are at hand; a file that does not agree with them is refused.
        """
        raise NotImplementedError

    def write_private(self, data: D, folder: Path) -> None:
        """Write what a later verification needs and nobody else may see."""

    def read_private(self, folder: Path) -> D | None:
        """Read what :meth:`write_private` wrote; None when there is nothing."""
        del folder
        return None

    def reload(self, plan: Any, folder: Path, names: Mapping[str, str]) -> D:
        """Return the released data as the public folder shows them, with the roles of the plan."""
        del plan, folder, names
        raise InputError(
            f"{self.noun} are not read back from the public folder alone; the confidential one is needed"
        )

    # -- report --------------------------------------------------------------------------------

    def report_blocks(self, release: Any, audience: str) -> Sequence[Any]:
        """Return the parts of a report that only this kind has: ``audience`` is public or board."""
        del release, audience
        return ()
