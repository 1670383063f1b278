"""Entries of attributes from the lists in the docstrings of classes.

A docstring of a class lists its attributes in numpydoc's form, since most of them have
no docstring of their own. help() shows the list as it is. On the page of the class each
attribute is an entry; the list is the only place that has its text.
"""

import inspect
import sys

from pages.plain import docstring_to_markup

HEADING = "Attributes"
CLASSES = ("class", "exception")


def is_heading(lines, place):
    """Say whether a section begins here."""
    rule = lines[place + 1 : place + 2]
    return bool(lines[place].strip() and rule and set(rule[0].strip()) == {"-"})


def is_entry(lines, place):
    """Say whether a line is a name with a text below."""
    below = lines[place + 1 : place + 2]
    return bool(below and lines[place][:1].strip() and below[0][:1] == " ")


def split(lines):
    """Return the lines without the list, and the list: {name: (type, lines)}."""
    places = [k for k, line in enumerate(lines) if line == HEADING]
    place = next((k for k in places if is_heading(lines, k)), None)
    if place is None:
        return list(lines), {}
    found, current = {}, place + 2
    while current < len(lines) and is_entry(lines, current):
        name, _, kind = lines[current].partition(" : ")
        text = found[name.strip()] = (kind.strip(), [])
        current += 1
        while current < len(lines) and not lines[current][:1].strip():
            text[1].append(lines[current].strip())
            current += 1
    return [*lines[:place], *lines[current:]], found


def is_plain(class_):
    """Say whether a docstring is plain text: those of the extension are."""
    from pycuda import _driver

    return getattr(_driver, class_.__name__, None) is class_


def listed(class_, inherited):
    """Return the list of a class, with those of its bases if they are asked for."""
    found = {}
    for base in class_.__mro__ if inherited else (class_,):
        text = inspect.cleandoc(vars(base).get("__doc__") or "")
        for name, (kind, lines) in split(text.splitlines())[1].items():
            if is_plain(base):
                lines = docstring_to_markup(lines)
            found.setdefault(name, (kind, lines))
    return found


def entries(attributes):
    """Return markup of the entries."""
    markup = []
    for name, (kind, text) in attributes.items():
        markup += ["", f".. py:attribute:: {name}"]
        markup += [f"   :type: {kind}"] if kind else []
        markup += ["", *(f"   {line}".rstrip() for line in text)]
    return [*markup, ""]


def is_inherited(options):
    return bool(getattr(options, "inherited_members", None))


def take_out(app, what, name, thing, options, lines):
    """Remove the list of a class, of which conf.py would make a list of fields."""
    if what in CLASSES and inspect.isclass(thing):
        lines[:], _ = split(lines)


def put_in(app, what, name, thing, options, lines):
    """Make entries of the list of a class."""
    if what in CLASSES and inspect.isclass(thing):
        lines += entries(listed(thing, is_inherited(options)))


def on_member(app, what, name, thing, skip, options):
    """Leave out members that the list of their class describes."""
    if what not in CLASSES:
        return None
    place = app.env.temp_data
    class_ = sys.modules.get(place.get("autodoc:module"))
    class_ = getattr(class_, place.get("autodoc:class") or "", None)
    is_listed = inspect.isclass(class_) and name in listed(
        class_, is_inherited(options)
    )
    return True if is_listed else None


def setup(app):
    # After conf.py has made markup of plain text, and around its lists of fields.
    app.connect("autodoc-process-docstring", take_out, priority=450)
    app.connect("autodoc-process-docstring", put_in, priority=600)
    app.connect("autodoc-skip-member", on_member)
    return {"parallel_read_safe": True}
