"""What each row of the table of the API does: a function for every row.

A behaviour is called with the last part of the row's name, with a context current, and
asserts what a call gives. One function may stand for several rows that are alike.
"""

#: {full name of a row: its behaviour}
BEHAVIOURS = {}


def behaviour(*names, of="pycuda.gpuarray"):
    """Say that a function shows what some rows of a module do."""

    def register(function):
        for name in names:
            full = f"{of}.{name}"
            assert full not in BEHAVIOURS, f"{full} has a behaviour"
            BEHAVIOURS[full] = function
        return function

    return register


def show(row):
    """Run the behaviour of a row; LookupError if it has none."""
    found = BEHAVIOURS.get(str(row))
    if found is None:
        raise LookupError(f"{row} has no behaviour")
    found(row.qualname.rpartition(".")[2])
