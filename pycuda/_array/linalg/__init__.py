"""Products of matrices, norms, systems of equations, and decompositions."""
