"""vision_referee: a camera over a Russian billiards table that referees the game by the book.

From Python: ``for told in vision_referee.referee("match.mp4", rules="american"): …``, see docs/python.md. Importing the
package loads nothing more; OpenCV, OpenVINO and the like are loaded when one of the names below is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vision_referee.version import __version__ as __version__

if TYPE_CHECKING:
    from vision_referee.api import Event as Event
    from vision_referee.api import InputError as InputError
    from vision_referee.api import Ruling as Ruling
    from vision_referee.api import analyze as analyze
    from vision_referee.api import referee as referee

__all__ = ["Event", "InputError", "Ruling", "__version__", "analyze", "referee"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from vision_referee import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
