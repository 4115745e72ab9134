"""Movements of hidden cells that keep every relation: grids, then flows in them, then routes."""
