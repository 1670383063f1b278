"""The template engine Mako, under the name by which programs import it.

The package itself does not need it.
"""

try:
    from mako import template
except ImportError as error:
    raise ImportError(
        "pycuda._mymako needs the template engine Mako: pip install mako"
    ) from error

__all__ = ["template"]
