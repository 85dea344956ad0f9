"""The console script ``vision-referee``: wires the commands and turns errors into one clear line."""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
from typing import Any, NoReturn, cast

import typer

from vision_referee import commands
from vision_referee.domain.errors import InputError
from vision_referee.version import __version__

# Typer keeps click either beside it or inside it; the parent of its own BadParameter is the usage error of both.
UsageError = cast(type[Exception], typer.BadParameter.__mro__[1])
EXIT_DONE, EXIT_INPUT, EXIT_WRONG_CALL, EXIT_INTERRUPTED = 0, 1, 2, 130


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"vision-referee {__version__}")
        raise typer.Exit


def build_app() -> typer.Typer:
    """The command line with every command of ``vision_referee.commands``."""
    app = typer.Typer(
        name="vision-referee", no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False,
        help="Watches a Russian billiards table through a camera and referees the game by the book.",
    )  # fmt: skip

    @app.callback()
    def _main(
        version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
    ) -> None:
        pass

    for module in sorted(pkgutil.iter_modules(commands.__path__), key=lambda m: m.name):
        register = getattr(importlib.import_module(f"{commands.__name__}.{module.name}"), "register", None)
        if register is not None:
            register(app)
    return app


def main() -> None:
    """Run the command line; never a traceback (set VISION_REFEREE_DEBUG=1 to see one)."""
    try:
        code = build_app()(standalone_mode=False)
        sys.exit(code if isinstance(code, int) else EXIT_DONE)
    except UsageError as error:
        _wrong_call(error)
    except typer.Abort:
        sys.exit(EXIT_INTERRUPTED)
    except InputError as error:
        _fail(str(error))
    except KeyboardInterrupt:
        print("vision-referee: interrupted", file=sys.stderr)
        sys.exit(EXIT_INTERRUPTED)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(EXIT_DONE)
    except Exception as error:
        if os.environ.get("VISION_REFEREE_DEBUG"):
            raise
        _fail(f"{type(error).__name__}: {error} (set VISION_REFEREE_DEBUG=1 and run again to see where)")


def _wrong_call(error: Any) -> NoReturn:
    message = error.format_message()
    if type(error).__name__ == "NoArgsIsHelpError":
        print(message)
    else:
        asked = error.ctx.command_path if error.ctx else "vision-referee"
        print(f"vision-referee: {' '.join(message.split())} (see {asked} --help)", file=sys.stderr)
    sys.exit(EXIT_WRONG_CALL)


def _fail(message: str) -> NoReturn:
    print("vision-referee: " + " ".join(message.split()), file=sys.stderr)
    sys.exit(EXIT_INPUT)


if __name__ == "__main__":
    main()
