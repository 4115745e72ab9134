"""Texts as tokens: words, what is known of them, and the page on which detectors look."""
