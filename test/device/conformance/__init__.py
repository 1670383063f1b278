"""The opcode conformance suite: a small kernel for every PTX opcode and its modifiers.

The kernels are PTX text made from tables (the family modules), their inputs come from
`values`, and what a real GPU answered is kept in test/data. `suite` gathers the cases,
`runner` runs them on any driver library, `record` writes the answers down and
test_conformance.py compares. Nothing here is a test by itself.
"""
