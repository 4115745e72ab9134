"""An attacker of tables, written from the definition for checks alone: no method uses it."""
