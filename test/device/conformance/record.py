"""Record the answers of a GPU: `python -m device.conformance.record` in test/.

Run every case twice, record the answers that agree, and report failures and
differences. With --only TEXT, record only the cases whose name contains TEXT. With
--missing, record only the cases without an answer. All other answers are kept.
"""

import argparse
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from . import suite
from .answers import Answers, difference, split
from .runner import may_hang, run_cases


def stale(answers):
    """Return the recorded names without a case, or whose kernel has changed."""
    known = suite.cases()
    return [n for n in answers.answers if n not in known or not answers.of(known[n])]


def keep(results, again, known, names):
    """Return the complete answers that agree, and a message for each other name."""
    kept, problems = {}, {}
    for name in names:
        case = known[name]
        error = results.errors.get(name) or again.errors.get(name)
        if error:
            problems[name] = error
            continue
        first, second = results.answers[name], again.answers[name]
        if first != second:
            problems[name] = "not the same twice: " + difference(case, first, second, 2)
            continue
        try:
            split(case, first)
        except ValueError as error:
            problems[name] = str(error)
            continue
        kept[name] = case.digest, first
    return kept, problems


#: How many children run the cases that may hang. Each hang takes seconds.
SHARDS = 8


def run(library, names):
    """Call run_cases, in several children at a time for the cases that may hang."""
    hanging = [n for n in names if may_hang(n)]
    results = run_cases(library, [n for n in names if not may_hang(n)])
    shards = [hanging[i::SHARDS] for i in range(SHARDS)]
    with ThreadPoolExecutor(SHARDS) as pool:
        for found in pool.map(lambda shard: run_cases(library, shard), shards):
            results.answers.update(found.answers)
            results.errors.update(found.errors)
            results.about = results.about or found.about
    return results


def main():
    parser = argparse.ArgumentParser(
        prog="device.conformance.record", description=__doc__
    )
    parser.add_argument("--out", default=suite.ANSWERS, help="the file to write")
    parser.add_argument("--library", default="libcuda.so.1", help="the driver library")
    parser.add_argument("--only", help="record the cases with this text in their name")
    parser.add_argument("--missing", action="store_true", help="record what is missing")
    options = parser.parse_args()

    begin = time.monotonic()
    known = suite.cases()
    names = [n for n in known if not options.only or options.only in n]
    # Run a case that must fault last, so that it cannot disturb other cases.
    names.sort(key=lambda n: known[n].fails)
    answers = Answers()
    if (options.only or options.missing) and Path(options.out).exists():
        answers = Answers.load(options.out)
    if options.missing:
        names = [n for n in names if answers.of(known[n]) is None]
    results = run(options.library, names)
    again = run(options.library, names)
    kept, problems = keep(results, again, known, names)

    for name in stale(answers):
        del answers.answers[name]
    answers.answers.update(kept)
    answers.about = {k: v for k, v in results.about.items() if k != "size"}
    if kept:
        answers.save(options.out)

    print(f"device: {answers.about}")
    for name, problem in problems.items():
        print(f"  {name}: {problem}")
    print(f"recorded: {len(kept)} of {len(names)} cases, {len(problems)} problems")
    print(suite.coverage_report(list(answers.answers)))
    print(f"{options.out}, {time.monotonic() - begin:.1f} s")
    return 0 if kept and not problems else 1


if __name__ == "__main__":
    sys.exit(main())
