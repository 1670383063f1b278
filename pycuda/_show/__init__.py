"""Pictures of arrays: in notebooks, on terminals, in files."""
