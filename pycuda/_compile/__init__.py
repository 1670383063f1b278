"""The compile room: from CUDA C to an image that a context can load."""
