"""Sweeps over all entry points: each driver call, each allocation fails once."""
