"""A seeded fuzzer: random data, roles, Specs, tables and plans, judged by a second pair of eyes."""
