"""Random PTX programs, run on a GPU and on the software device.

`instructions` is the table of instructions that a program draws from, and `program`
makes the text of a program from its number. device.record_kernels records the answers
of a GPU, and test_ptx_forms.py compares them.
"""
