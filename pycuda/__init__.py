"""Drive NVIDIA GPUs from Python.

``VERSION``, ``VERSION_STATUS`` and ``VERSION_TEXT`` name the release of PyCUDA whose
interface this package has; programs compare ``VERSION`` as a tuple.
"""

VERSION = (2026, 1)
VERSION_STATUS = ""
VERSION_TEXT = ".".join(str(part) for part in VERSION) + VERSION_STATUS
