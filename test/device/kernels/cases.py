"""The table of all cases: {name: Case}, in the order of the files."""

from . import (  # noqa: F401  each puts its cases into the table
    cases_language,
    cases_library,
    cases_numbers,
    cases_parallel,
    cases_programs,
)
from .plan import CASES

__all__ = ["CASES"]
