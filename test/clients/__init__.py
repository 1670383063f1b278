"""Other programs on the software device: their own tests, in environments of their own.

tools/clients.py runs them and compares the outcomes with those of an H200.
"""
