"""Kernels for the forms of PTX instructions that have one right answer.

tools/ptx_forms.txt has patterns of all forms of PTX. `kernels` makes a kernel for each
form that computes a value from registers, and `atomics` for each form of atom and red.
device.record_kernels records the answers of a GPU, and test_ptx_forms.py compares them.
"""
