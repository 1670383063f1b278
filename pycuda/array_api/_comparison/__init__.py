"""The comparison of the namespace with array_api_strict.

``cases`` draws calls of the standard's functions, ``operands`` the arrays for them,
``results`` compares what both namespaces return, ``run`` counts.
"""
