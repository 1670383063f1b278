"""The behaviours of the API: a test function for each row of the table.

A behaviour gets the last part of the row's name. It runs in a current context and
asserts the result of a call. Similar rows share one function.
"""

#: {full name of a row: its behaviour}
BEHAVIOURS = {}


def behaviour(*names, of="pycuda.gpuarray"):
    """Register a function as the behaviour of some rows of a module."""

    def register(function):
        for name in names:
            full = f"{of}.{name}"
            assert full not in BEHAVIOURS, f"{full} has a behaviour"
            BEHAVIOURS[full] = function
        return function

    return register


def show(row):
    """Run the behaviour of a row. Raise LookupError if it has none."""
    found = BEHAVIOURS.get(str(row))
    if found is None:
        raise LookupError(f"{row} has no behaviour")
    found(row.qualname.rpartition(".")[2])
