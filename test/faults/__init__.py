"""Sweeps over all entry points, in which each driver call and allocation fails once."""
