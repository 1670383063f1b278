"""Kernels of the kinds that real programs use, and what runs and compares them.

The ``.cu`` files hold the kernels; ``cases.py`` collects the table of cases,
``plan.py`` says what a case is, ``device.py`` runs one, ``golden.py`` compares results
and records them.
"""
