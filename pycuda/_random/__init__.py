"""Random numbers in device memory: generators, their texts and cuRAND's files."""
