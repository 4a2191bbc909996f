"""`qa-bot repair`: mends a home from what is sound in it, and never indexes an altered document."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import nullcontext

from qa_bot.documents.index_update import index_update
from qa_bot.documents.repairing.graph import mend_graph
from qa_bot.documents.repairing.outcome import Backups, Repaired
from qa_bot.documents.repairing.rows import mend_database, mend_rows
from qa_bot.home.checks.sealed_files import changed, forget, seal
from qa_bot.home.checks.vectors import damaged_vectors
from qa_bot.home.config import Config
from qa_bot.home.folder import Home
from qa_bot.home.generations import Generations
from qa_bot.home.journal import open_store
from qa_core.types import Encoder

Progress = Callable[[int], None]


def repair(
    home: Home,
    config: Config,
    encoder: Encoder,
    *,
    backups: Backups = nullcontext,
    progress: Progress = lambda _: None,
) -> Repaired:
    """Mend what is damaged, and rebuild the index from the sound documents.

    Args:
        backups: opened only if something is altered.

    Raises:
        ChangeError: the database itself is damaged; nothing was changed.
        WriterBusyError: another process is writing.
    """
    done = Repaired()
    with home.lock("repair"):
        with open_store(home, config) as store:
            mend_database(home, store, done)
            mend_rows(home, store, backups, done)
        _mend_files(home, backups, done)
        mend_graph(home, backups, done)
        with index_update(home, config, encoder, action=None, from_nothing=True) as update:
            done.documents = update.rebuild(progress)
        for root in (Generations(home.index), Generations(home.graph)):
            for number in root.remove_damaged_former():
                done.mended.append(f"{root.root / f'{number:08d}'} was a damaged spare copy and was removed.")
    return done


def _mend_files(home: Home, backups: Backups, done: Repaired) -> None:
    """Models, personas, configuration and kept vectors."""
    for path in damaged_vectors(home):
        path.unlink(missing_ok=True)
        done.mended.append(f"{path} was removed; its vectors are made anew.")
    damaged = changed(home.path).damaged
    with backups() if damaged else nullcontext() as opened:
        copies = {name: [backup.file(name) for backup in opened or ()] for name in damaged}
    for name in damaged:
        path = home.path / name
        if (data := next((data for data in copies[name] if data is not None), None)) is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            done.mended.append(f"{path} was brought back.")
        elif name.startswith(("models/confidence-", "models/graphs/")):
            _remove(home, name)
            done.mended.append(f"{path} was removed; it is made anew when it is needed.")
        else:
            done.damaged.append(f"{path} differs from what was written; bring back a backup, or fetch the model again.")
            continue
        forget(home.path, [name])
    seal(home.path)


def _remove(home: Home, name: str) -> None:
    path = home.path / name
    if name.startswith("models/graphs/"):  # graph, weights and notes belong together
        path = home.path.joinpath(*name.split("/")[:3])
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
