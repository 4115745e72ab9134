"""Plots and tables of protected values: what is drawn tells nothing about one person."""
