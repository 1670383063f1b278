"""The files at the root that services and visitors look for say what is true."""

import re

import pytest
import yaml

from support.pyproject import ROOT, project

PAGES = ("CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "SECURITY.md")
CI = ROOT / ".github" / "workflows" / "ci.yml"

#: The target of a link, and a command in the text.
LINK = re.compile(r"\]\(([^)]+)\)")
MAKE = re.compile(r"\bmake ([a-z-]+)")


def targets():
    """Return the targets of the Makefile."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    return {
        name for line in re.findall(r"^([\w -]+):", text, re.M) for name in line.split()
    }


def faults_of_page(text):
    """Return the links and the targets of make in a text that do not exist."""
    links = [link for link in LINK.findall(text) if not (ROOT / link).is_file()]
    return [*links, *sorted({*MAKE.findall(text)} - targets())]


def faults_of_ci(text):
    """Return what is wrong with a file of the CI service."""
    found = []
    jobs = yaml.safe_load(text)["jobs"]
    for name, job in jobs.items():
        if not any(
            "uses" in step and "checkout" in step["uses"] for step in job["steps"]
        ):
            found.append(f"{name} has no checkout")
    runs = [
        step["run"] for job in jobs.values() for step in job["steps"] if "run" in step
    ]
    asked = {target for run in runs for target in MAKE.findall(run)}
    found += sorted(asked - targets())
    uses = [
        step["uses"] for job in jobs.values() for step in job["steps"] if "uses" in step
    ]
    found += [each for each in uses if not re.fullmatch(r"actions/[\w-]+@v\d+", each)]
    found += re.findall(r"secrets\.\w*|index-url\S*|https?://\S*", text)
    return found


@pytest.mark.parametrize("name", PAGES)
def test_the_pages_name_files_and_targets_that_exist(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    assert faults_of_page(text) == []


def test_a_fault_of_a_page_is_seen():
    text = "[a](doc/contributing.rst) [b](doc/nothing.rst) make test, make nothing"
    assert faults_of_page(text) == ["doc/nothing.rst", "nothing"]


def test_visitors_find_the_way():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 60  # one page
    links = {*LINK.findall(text)}
    assert {"doc/contributing.rst", "SECURITY.md", "CODE_OF_CONDUCT.md"} <= links


def test_the_ci_file_uses_what_exists():
    assert faults_of_ci(CI.read_text(encoding="utf-8")) == []


def test_the_ci_file_tests_the_versions_and_keeps_the_wheels():
    jobs = yaml.safe_load(CI.read_text(encoding="utf-8"))["jobs"]
    known = re.findall(r"Python :: (3\.\d+)", "\n".join(project()["classifiers"]))
    tested = jobs["test"]["strategy"]["matrix"]["python"]
    assert tested == ["3.10", "3.11", "3.12", "3.13"]
    assert {*tested} <= {*known}
    assert any(
        step.get("run", "").startswith("make ci ") for step in jobs["test"]["steps"]
    )
    steps = jobs["wheels"]["steps"]
    (python,) = [
        x for x in steps if x.get("uses", "").startswith("actions/setup-python")
    ]
    assert sorted(python["with"]["python-version"].split()) == sorted(known)
    upload = steps[-1]
    assert upload["uses"].startswith("actions/upload-artifact")
    assert upload["with"]["path"] == "dist"


def test_a_fault_of_a_ci_file_is_seen():
    text = """
jobs:
  a:
    steps:
      - uses: someone/checkout@main
      - run: make nothing TOKEN=${{ secrets.TOKEN }}
  b:
    steps:
      - run: pip install --index-url https://example.org/simple x
"""
    assert faults_of_ci(text) == [
        "b has no checkout",
        "nothing",
        "someone/checkout@main",
        "secrets.TOKEN",
        "index-url",
        "https://example.org/simple",
    ]


def test_the_citation_names_the_paper_about_the_original():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["cff-version"] == "1.2.0"
    assert {"message", "title", "authors", "type"} <= {*cited}
    assert cited["license"] == project()["license"]
    assert cited["authors"] == project()["authors"]
    (paper,) = cited["references"]
    first = paper["authors"][0]
    assert (first["given-names"], first["family-names"]) == ("Andreas", "Klöckner")
    assert (paper["journal"], paper["year"]) == ("Parallel Computing", 2012)


def test_the_license_is_that_of_mit_and_the_notice_names_the_original():
    license_, notice = (
        (ROOT / x).read_text("utf-8") for x in project()["license-files"]
    )
    assert license_.startswith("MIT License\n\nCopyright (c) ")
    assert "independent reimplementation of PyCUDA by Andreas Klöckner" in notice
