"""Scores: a match folder against ground truth (CONTRACT: Ground truth and scores; docs/evaluation.md)."""
