"""Statistics on plain arrays, shared by protection, risk and utility: no data model, no engine."""
