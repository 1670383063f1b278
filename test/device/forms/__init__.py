"""Every form of an instruction that computes a value from registers.

tools/ptx_forms.txt has patterns of all forms of PTX. `kernels` makes a kernel for each
form that computes a value from registers, `batch` runs them on a driver library, and
`record` records the answers of a GPU, in test/data/ptx_form_answers.txt: a checksum for
each form. test_ptx_forms.py compares them.
"""
