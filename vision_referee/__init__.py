"""vision_referee: a camera over a Russian billiards table that referees the game by the book."""

__version__ = "0.1.0"
