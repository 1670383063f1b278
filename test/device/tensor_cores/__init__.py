"""Instructions of the tensor cores: their forms, kernels and inputs, and the answers of
an H200. test_tensor_cores.py compares this machine's device with the answers."""
