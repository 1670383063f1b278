"""Random PTX programs, run on a GPU and on the software device.

`instructions` is the table of instructions that a program draws from. `program` makes
the text of a program from its number, and `batch` runs programs on a driver library.
`record` records the answers of a GPU, in test/data/random_ptx.xz: a checksum for each
program. test_random_ptx.py compares them.
"""
