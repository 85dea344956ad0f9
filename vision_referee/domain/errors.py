"""Errors that a user can cause and act on."""

from __future__ import annotations


class InputError(Exception):
    """The input could not be used (exit status 1).

    The message is one line: what is wrong, with which file, and what to do about it.
    """


class RecordStopped(InputError):
    """What is seen can no longer be written down (a full disk, a folder taken away); what is on the disk is whole."""


class CalibrationError(InputError):
    """No trustworthy table or camera could be found; the message gives the reason."""
