"""Runs the campaign: `python -m tests.fuzzing --seconds 600 --processes 2`.

Every target is fuzzed in a separate process for its share of the time, or for `--count` inputs. A table tells the
inputs of each target, the slowest one, the memory kept for every 10,000 inputs, and each finding with the number that
makes its input again: `python -m tests.fuzzing --target NAME --number N`.
"""

from __future__ import annotations

import argparse
import gc
import json
import multiprocessing
import os
import resource
import signal
import sys
import time
import traceback
import tracemalloc
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tests.fuzzing.mutations import mutated

HANG = 5.0
"""Seconds of processor time after which an input is a hang."""
MOST_FINDINGS = 20
MEMORY = 4 * 1024**3
WARM_UP = 300
"""Inputs before memory is counted."""


class HangError(BaseException):
    """No Exception: a reader's own handler must not catch it."""


@dataclass
class Outcome:
    target: str
    inputs: int = 0
    seconds: float = 0.0
    slowest_s: float = 0.0
    slowest_number: int = -1
    kept_mb: float = 0.0
    """Python memory kept for 10,000 inputs."""
    findings: list[dict[str, object]] = field(default_factory=list)
    ended: str = ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600, help="for all targets")
    parser.add_argument("--count", type=int, help="inputs of each target, instead of seconds")
    parser.add_argument("--seed", type=int, help="the number of the first input; by default random")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--target", action="append", help="fuzz only these")
    parser.add_argument("--number", type=int, help="write the input with this number to standard output")
    parser.add_argument("--out", type=Path, help="JSON file")
    options = parser.parse_args()
    os.environ["QA_BOT_DENSE__IMPROVE"] = "false"
    from tests.fuzzing.targets import targets

    known = targets()
    if options.number is not None:
        sys.stdout.buffer.write(mutated(known[options.target[0]].seeds, options.number))
        return
    seed = options.seed if options.seed is not None else time.time_ns() % 10**9 * 10**6
    names = options.target or list(known)
    share = options.seconds * options.processes / len(names)
    with ThreadPoolExecutor(options.processes) as pool:
        outcomes = list(pool.map(lambda name: _in_process(name, seed, share, options.count), names))
    _print(outcomes, seed)
    if options.out:
        options.out.write_text(json.dumps({"seed": seed, "targets": [asdict(outcome) for outcome in outcomes]}))
    raise SystemExit(any(outcome.findings or outcome.ended for outcome in outcomes))


def _in_process(name: str, seed: int, seconds: float, count: int | None) -> Outcome:
    """The outcome of a target, fuzzed in a separate process; a crash is a finding."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_fuzz, args=(name, seed, seconds, count, sender))
    process.start()
    sender.close()
    outcome, number = Outcome(name), seed
    limit = time.monotonic() + (seconds * 4 + 120 if count is None else count * 0.2 + 600)
    while receiver.poll(max(0.0, limit - time.monotonic())):
        try:
            message = receiver.recv()
        except EOFError:
            break
        if isinstance(message, int):
            number = message
        else:
            outcome = message
    process.join(1)
    if process.is_alive():
        process.kill()
        outcome.ended = f"hung near input {number}"
    elif process.exitcode:
        outcome.ended = f"exit code {process.exitcode} near input {number}"
    return outcome


def _fuzz(name: str, seed: int, seconds: float, count: int | None, sender) -> None:
    from tests.fuzzing.targets import targets

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGVTALRM, _hang)
    warnings.simplefilter("ignore")
    target, outcome, began = targets()[name], Outcome(name), time.monotonic()
    before, number = 0, seed
    while (time.monotonic() - began < seconds) if count is None else (outcome.inputs < count):
        data = mutated(target.seeds, number)
        _one(target.run, data, number, outcome)
        number += 1
        outcome.inputs += 1
        if outcome.inputs == WARM_UP:
            gc.collect()
            tracemalloc.start()
            before = tracemalloc.get_traced_memory()[0]
        if outcome.inputs % 50 == 0:
            sender.send(number)
        if len(outcome.findings) >= MOST_FINDINGS:
            break
    outcome.seconds = round(time.monotonic() - began, 1)
    if outcome.inputs > WARM_UP:
        gc.collect()
        growth = tracemalloc.get_traced_memory()[0] - before
        outcome.kept_mb = round(growth / 1e6 * 10_000 / (outcome.inputs - WARM_UP), 3)
    sender.send(outcome)
    sender.close()
    os._exit(0)  # threads of the bot need not be waited for


def _one(run, data: bytes, number: int, outcome: Outcome) -> None:
    began = time.process_time()
    signal.setitimer(signal.ITIMER_VIRTUAL, HANG)
    try:
        run(data)
    except BaseException as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        finding = f"{type(error).__name__} at {Path(where.filename).name}:{where.lineno}"
        if finding not in {known["finding"] for known in outcome.findings}:
            outcome.findings.append({"finding": finding, "number": number, "message": str(error)[:200]})
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    took = time.process_time() - began
    if took > outcome.slowest_s:
        outcome.slowest_s, outcome.slowest_number = round(took, 3), number


def _hang(*_: object) -> None:
    raise HangError(f"more than {HANG:g} s")


def _print(outcomes: list[Outcome], seed: int) -> None:
    print(f"seed {seed}, {sum(outcome.inputs for outcome in outcomes):,} inputs")  # noqa: T201
    print(f"{'target':<24}{'inputs':>10}{'a second':>10}{'slowest s':>10}{'kept MB':>9}")  # noqa: T201
    for outcome in outcomes:
        rate = outcome.inputs / outcome.seconds if outcome.seconds else 0
        row = f"{outcome.inputs:>10,}{rate:>10,.0f}{outcome.slowest_s:>10.2f}{outcome.kept_mb:>9.2f}"
        print(f"{outcome.target:<24}{row} {outcome.ended}")  # noqa: T201
        for finding in outcome.findings:
            print(f"    {finding['number']}: {finding['finding']}: {finding['message']}")  # noqa: T201
