"""Suppression: hide cells until no unsafe one can be computed too closely.

The order of the work is in the names: a ``problem`` is posed, a ``propose_*`` engine proposes a pattern (with
``moves`` to search with), ``repair`` hides what is still missing and publishes what nobody needs hidden,
and ``suppression`` runs these in turn. The ``suppress_*`` modules are the Specs.
"""
