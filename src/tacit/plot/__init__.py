"""Charts: Vega-Lite specifications with alternative text, saved offline."""
