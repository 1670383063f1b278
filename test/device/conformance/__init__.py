"""The opcode conformance suite: a small kernel for each PTX opcode and its modifiers.

The family modules make the PTX text of the kernels from tables. `values` makes the
inputs. test/data has the recorded answers of a GPU. `suite` collects the cases,
`runner` runs them on any driver library, `record` records the answers, and
test_conformance.py compares them.
"""
