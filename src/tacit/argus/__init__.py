"""tau-ARGUS: its batch files (``.arb``), parsed, run and written, and its output formats."""
