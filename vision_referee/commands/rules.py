"""``vision-referee rules [RULES]``: the rule sets, and one's settings."""

from __future__ import annotations

import typer

_TITLES = {
    "small-russian": "small Russian pyramid: 71 points, every stroke called",
    "russian": "Russian (classic) pyramid: 71 points, ball and pocket called",
    "moscow": "Moscow (combined) pyramid: eight balls, one cue ball",
    "american": "American (free) pyramid: eight balls, any cue ball",
    "none": "no rules: events only",
}


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""

    @app.command()
    def rules(
        name: str = typer.Argument("", metavar="[RULES]", help="A rule set; without it all are listed."),
        as_json: bool = typer.Option(False, "--json", help="Print JSON instead of words."),
    ) -> None:
        """List the rule sets, or one's settings with default, meaning and rule id."""
        import json

        from vision_referee.rules.settings import RULE_SETS, RuleSettings, in_force, settings_of

        if name and name not in RULE_SETS:
            typer.echo(f"vision-referee: {name}: no such rule set; choose one of {', '.join(RULE_SETS)}", err=True)
            raise typer.Exit(2)
        if not name:
            if as_json:
                typer.echo(json.dumps(_TITLES))
                return
            for rule_set in RULE_SETS:
                typer.echo(f"{rule_set:14} {_TITLES[rule_set]}")
            typer.echo("\nvision-referee rules RULES lists the settings of one.")
            return
        values = in_force(name, RuleSettings())
        if as_json:
            rows = [
                {"key": s.key, "default": values[s.key], "meaning": s.meaning, "rule": s.rule, "note": s.default}
                for s in settings_of(name)
            ]
            typer.echo(json.dumps(rows, ensure_ascii=False))
            return
        typer.echo(f"{name}: {_TITLES[name]}")
        for setting in settings_of(name):
            value = setting.default or _plain(values[setting.key])
            typer.echo(f"  {setting.key:21} {setting.rule:5} {setting.meaning} [default: {value}]")
        if settings_of(name):
            typer.echo(
                "\nSet one with --set KEY=VALUE, or several in a TOML file's [rules] table with --settings FILE."
            )

    def _plain(value: object) -> str:
        if isinstance(value, bool):
            return "true" if value else "false"
        return f"{value:g}" if isinstance(value, float) else str(value)
