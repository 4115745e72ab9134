"""What released texts no longer hold."""
