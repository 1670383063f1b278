"""The Python array API standard: its names, and its functions in random calls.

``names`` is the table of names and signatures. ``run`` calls functions of
``pycuda.array_api`` and of ``array_api_strict``, and counts the differences.
``operands`` draws arrays, ``draws`` and ``*_cases`` a call of one function, ``results``
says how far results may be apart. ``tools/compare_array_api.py`` is the command.
"""
