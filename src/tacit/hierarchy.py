"""Hierarchies: how the values of a column generalise, level by level, to one top.

A hierarchy is a tree. Its leaves are the values of the data (level 0); each level above joins groups of
the level below; the single top is the suppressed value. Give one for a column with
``tacit.read(..., hierarchies={column: ...})`` or in a plan.

**Builders** return a *rule* that waits for the values of the data::

    flat()                                  as it is, or suppressed
    digits(5, mask=[1, 2])                  02138, 0213*, 021**, *****
    prefix([2, 1, 1])                       1234, 123, 12, *
    dates("%m/%d/%y")                       day, month, year, 5 years, 10 years, *
    intervals([5, 10, 20], upper=90)        23, 20-24, 20-29, 20-39, *
    icd(10)                                 I21.4, I21, I20-I25, IX, *

**Readers** return a :class:`Hierarchy` from a file (``read_grc`` returns a rule)::

    read_csv("age.csv")                     one path per line, as ARX writes them
    read_hrc("nace.hrc")                    tau-ARGUS: one code per line, depth by leading marks
    read_grc(["age.grc", "age3.grc"])       mu-ARGUS global recodes, one level each
    read_yaml("country.yaml")               nested mappings and lists
    from_tree(...), from_levels(...)        the same from Python objects

:func:`load` takes any of these forms as a plan writes them: ``load("age.csv")``,
``load({"kind": "dates", "format": "%Y-%m-%d"})``; :func:`to_dict` is its inverse.

>>> from tacit import hierarchy
>>> country = hierarchy.from_tree({"*": {"Europe": ["FR", "DE"], "Asia": ["JP", "KR"]}})
>>> country.path("FR")
('FR', 'Europe', '*')
>>> print(country.describe())
*  (4)
  Europe  (2)
    FR
    DE
  Asia  (2)
    JP
    KR
"""

from __future__ import annotations

from tacit.data.hierarchies.argus import read_cdl, read_grc, read_hrc
from tacit.data.hierarchies.dates import dates
from tacit.data.hierarchies.files import read_csv, write_csv
from tacit.data.hierarchies.icd import icd
from tacit.data.hierarchies.intervals import intervals
from tacit.data.hierarchies.load import load, to_dict
from tacit.data.hierarchies.rules import digits, flat, prefix
from tacit.data.hierarchies.tree import from_levels, from_tree, read_yaml
from tacit.data.hierarchy import TOP, Hierarchy, Rule
from tacit.public import publish

__all__ = [
    "TOP",
    "Hierarchy",
    "Rule",
    "dates",
    "digits",
    "flat",
    "from_levels",
    "from_tree",
    "icd",
    "intervals",
    "load",
    "prefix",
    "read_cdl",
    "read_csv",
    "read_grc",
    "read_hrc",
    "read_yaml",
    "to_dict",
    "write_csv",
]

__getattr__, __dir__ = publish("hierarchy", names=globals())
