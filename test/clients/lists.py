"""Lists of outcomes: how they are written, read and compared."""

from collections import Counter
from pathlib import Path

H200 = Path(__file__).parent / "h200"
DIFFERENCES = Path(__file__).parent / "differences"


def read(path):
    """Return {id: outcome} of a list. A missing file is an empty list."""
    if not path.exists():
        return {}
    lines = path.read_text(encoding="utf-8").splitlines()
    pairs = (line.split(maxsplit=1) for line in lines if line and line[0] != "#")
    return {test: outcome for outcome, test in pairs}


def write(path, about, outcomes):
    """Write a list with a comment on top."""
    lines = [f"# {line}" for line in about.splitlines()]
    lines += [f"{outcome} {test}" for test, outcome in sorted(outcomes.items())]
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def differences(name):
    """Return {id: reason} of the tests that fail here for a known reason.

    They pass on a GPU, or they are tests of a library for arrays of any kind.
    """
    path = DIFFERENCES / f"{name}.txt"
    found, reason = {}, []
    if not path.exists():
        return found
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            reason.append(line[2:])
        elif line:
            found[line] = " ".join(reason)
        else:
            reason = []
    return found


class Comparison:
    """Outcomes of the software device beside those of an H200."""

    def __init__(self, recorded, outcomes, known):
        passed = {test for test, outcome in recorded.items() if outcome == "ok"}
        self.compared = passed & set(outcomes)
        self.same = {test for test in self.compared if outcomes[test] == "ok"}
        self.missed = sorted(self.compared - self.same)
        self.unexpected = [test for test in self.missed if test not in known]
        if not recorded:  # no GPU has run the tests: none may fail
            self.unexpected = sorted(
                test for test in outcomes if outcomes[test] not in ("ok", "skip")
            )
        self.counts = Counter(outcomes.values())
        self.outcomes = outcomes

    def share(self):
        """Return the part of the tests that pass on the H200 and pass here."""
        return len(self.same) / len(self.compared) if self.compared else 1.0

    def text(self, name):
        """Return a paragraph with the counts, and the tests that differ."""
        ran = ", ".join(f"{n} {word}" for word, n in sorted(self.counts.items()))
        lines = [f"{name}: {sum(self.counts.values())} tests: {ran}"]
        if self.compared:
            lines.append(
                f"{name}: {len(self.same)} of the {len(self.compared)} tests that pass "
                f"on an H200 pass ({100 * self.share():.1f} %)"
            )
        known = len(self.missed) - len(self.unexpected)
        if known > 0:
            lines.append(f"{name}: {known} differ for a known reason")
        lines += [f"  {self.outcomes[test]} {test}" for test in self.unexpected]
        return "\n".join(lines)
