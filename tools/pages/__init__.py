"""Parts of the documentation that Sphinx makes: summary tables, the gallery, charts."""
