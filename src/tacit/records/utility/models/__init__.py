"""Models and estimates: what an analyst would conclude from the release."""
