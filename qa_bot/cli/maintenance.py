"""Commands that look after a home: `status`, `doctor`, `repair`, `migrate` and `config`."""

from __future__ import annotations

from typing import Annotated, NoReturn

import typer

from qa_bot.cli.context import (
    FAILED,
    OK,
    PARTLY,
    Json,
    home_path,
    open_encoder,
    open_home,
    print_json,
    read_secret,
    say,
)
from qa_bot.cli.entry_points import PLAIN_HELP

settings = typer.Typer(
    help="Show every setting and where it comes from, or set one.", invoke_without_command=True, **PLAIN_HELP
)


def status(
    context: typer.Context,
    seconds: Annotated[float, typer.Argument(help="Seconds between two looks with --watch.", min=0.1)] = 2.0,
    watch: Annotated[
        bool, typer.Option("--watch", help="Show the health of the service or the home again and again, until stopped.")
    ] = False,
    json: Json = False,
) -> None:
    """Show what the home holds."""
    from qa_bot.backup.checking import last_backup_fields
    from qa_bot.home import doctor
    from qa_bot.terminal.output import show_status

    if watch:
        _watch_status(context, seconds, json=json)
    home, config = open_home(context)
    figures = {**doctor.status(home, config), "last_backup": last_backup_fields(home)}
    if json:
        print_json(figures)
    else:
        show_status(figures)


def _watch_status(context: typer.Context, seconds: float, *, json: bool) -> NoReturn:
    """Until Ctrl-C, show the health that a running service reports, or else that of the home."""
    import time

    from qa_bot.backup.schedule import seconds_of
    from qa_bot.home.health.figures import current_health
    from qa_bot.terminal.health_output import show_health

    home, config = open_home(context)
    backup_every = seconds_of(config.backup.every)
    try:
        while True:
            health = current_health(home, backup_every=backup_every)
            if json:
                print_json(health)
            else:
                show_health(health)
            time.sleep(seconds)
    except KeyboardInterrupt:
        raise typer.Exit(OK) from None


def doctor(context: typer.Context, json: Json = False) -> None:
    """Check everything, and name the command that repairs what is wrong."""
    from qa_bot.answering.models.configured_models import check_models
    from qa_bot.answering.models.personas import check_personas
    from qa_bot.backup.checking import check_backup
    from qa_bot.backup.upgrading import forget_upgrades
    from qa_bot.home.checks.sealed_files import seal
    from qa_bot.home.doctor import run_checks
    from qa_bot.terminal.output import show_checks

    home, config = open_home(context, newer=True)
    checks = run_checks(home, config, {"models": check_models, "voices": check_personas, "backup": check_backup})
    is_sound = all(check.ok for check in checks)
    if is_sound:
        seal(home.path)
        if forget_upgrades(home):
            say("The copy from before the last upgrade was removed, since every check passed.", err=True)
    if json:
        print_json({"ok": is_sound, "checks": [check.as_dict() for check in checks]})
    else:
        show_checks(checks)
    raise typer.Exit(OK if is_sound else FAILED)


def repair(context: typer.Context, json: Json = False) -> None:
    """Mend what doctor names: the index, the facts, altered documents; damage is never made permanent."""
    from qa_bot.backup.copies import backup_copies
    from qa_bot.documents.repairing.repair import repair as mend
    from qa_bot.terminal.output import counting

    home, config = open_home(context)
    with counting("Rebuilding") as progress:
        done = mend(home, config, open_encoder(home, config), backups=lambda: backup_copies(home), progress=progress)
    if json:
        print_json(done.as_dict())
    else:
        say("\n".join([f"The index was rebuilt from {done.documents:,} documents.", *done.mended]))
    for line in done.damaged:
        say(line, err=True)
    raise typer.Exit(PARTLY if done.damaged or done.left_out else OK)


def migrate(context: typer.Context, json: Json = False) -> None:
    """Bring the database to the newest schema."""
    from qa_bot.home import store

    home, config = open_home(context)
    with home.lock("migrate"):
        before, after = store.migrate(home.store_url(config))
    if json:
        print_json({"schema": after, "before": before})
    else:
        say(f"schema {after}" + (" (nothing to do)" if before == after else f" (was {before or 'empty'})"))


@settings.callback()
def config(context: typer.Context, json: Json = False) -> None:
    """Show every setting and where it comes from."""
    if context.invoked_subcommand is not None:
        return
    from qa_bot.home.config import explain
    from qa_bot.home.doctor import vectors
    from qa_bot.terminal.output import show_settings

    home, settings = open_home(context)
    now = vectors(home, settings)["vectors"]
    rows = [
        row._replace(description=f"{row.description}; now {now}") if row.key == "dense.encoder" else row
        for row in explain(settings)
    ]
    if json:
        print_json({s.key: {"value": s.value, "origin": s.origin, "description": s.description} for s in rows})
    else:
        show_settings(rows)


@settings.command("set", context_settings={"ignore_unknown_options": True})  # a value may be a negative number
def set_(
    context: typer.Context,
    key: Annotated[str, typer.Argument(help="section.key")],
    value: Annotated[str, typer.Argument(help="Its value; - reads it from standard input.")],
) -> None:
    """Write one setting to the home's qa-bot.toml; of a token its hash is written."""
    from qa_bot.home.config import SECRETS

    if key in SECRETS and value not in ("", "-"):
        say(f"Other users may see commands: give secrets as `qa-bot config set {key} -`.", err=True)
    _write_setting(context, key, read_secret(key) if value == "-" else value)


@settings.command("new-token")
def new_token(context: typer.Context) -> None:
    """Make a token for the service and print it once; the home keeps its hash."""
    import secrets

    token = secrets.token_urlsafe(32)
    _write_setting(context, "serve.token", token)
    say(token)


def _write_setting(context: typer.Context, key: str, value: str) -> None:
    from qa_bot.answering.models.setting_checks import check_setting
    from qa_bot.home.checks.sealed_files import seal
    from qa_bot.home.config import set_value, with_absolute_folders
    from qa_bot.home.encoders import SHIPPED
    from qa_bot.home.folder import Home
    from qa_bot.home.generations.pending_settings import finish_if_idle

    home = Home.open(home_path(context))
    finish_if_idle(home)
    value = with_absolute_folders(key, value, SHIPPED)
    check_setting(home, key, value)
    set_value(home.path, key, value)
    seal(home.path)
