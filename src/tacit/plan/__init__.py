"""Plans: sources, roles, steps, measures and output, as data that can be reviewed and run again."""

from tacit.plan.files import read_document
from tacit.plan.model import SECTIONS, VERSION, Plan
from tacit.plan.schema import schema
from tacit.plan.sections import MapSpec, Output, Population, Roles, Source, Tabulate
from tacit.release.folders import to_yaml

__all__ = [
    "SECTIONS",
    "VERSION",
    "MapSpec",
    "Output",
    "Plan",
    "Population",
    "Roles",
    "Source",
    "Tabulate",
    "read_document",
    "schema",
    "to_yaml",
]
