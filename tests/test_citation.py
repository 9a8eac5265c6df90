"""The citation file and Zenodo's metadata: valid, and in step with the package."""

import json
import re
import tomllib

import pytest

from everclust import __version__
from support.paths import TESTS

ROOT = TESTS.parent
# From the schema of the Citation File Format 1.2.0 and of Zenodo's deposition metadata
CFF_KEYS = {
    *("abstract", "authors", "cff-version", "commit", "contact", "date-released", "doi", "identifiers"),
    *("keywords", "license", "license-url", "message", "preferred-citation", "references", "repository"),
    *("repository-artifact", "repository-code", "title", "type", "url", "version"),
}
PERSON_KEYS = {"family-names", "given-names", "name-particle", "name-suffix", "orcid", "affiliation", "email"}
ZENODO_KEYS = {
    *("title", "description", "upload_type", "access_right", "license", "version", "creators", "keywords"),
    *("language", "related_identifiers", "publication_date", "notes", "doi", "contributors", "references"),
}


@pytest.fixture(scope="module")
def citation():
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load((ROOT / "CITATION.cff").read_text())


@pytest.fixture(scope="module")
def zenodo():
    return json.loads((ROOT / ".zenodo.json").read_text())


@pytest.fixture(scope="module")
def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_the_citation_file_has_what_its_format_requires(citation):
    assert set(citation) <= CFF_KEYS
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    assert (citation["cff-version"], citation["type"]) == ("1.2.0", "software")
    for text in (citation["title"], citation["message"], citation["abstract"], citation["version"]):
        assert isinstance(text, str)
        assert text.strip()
    assert all(set(author) == {"name"} for author in citation["authors"])


def test_the_paper_is_among_the_references(citation):
    (paper,) = citation["references"]
    assert {"type", "title", "authors"} <= set(paper)
    assert paper["title"].startswith("An Adaptive Resonance Theory-based Topological Clustering Algorithm")
    assert [person["family-names"] for person in paper["authors"]] == [
        *("Masuyama", "Toda", "Nojima", "Ishibuchi")
    ]
    assert all(set(person) <= PERSON_KEYS for person in paper["authors"])
    assert isinstance(paper["year"], int)
    assert {identifier["type"] for identifier in paper["identifiers"]} <= {"doi", "url", "swh", "other"}
    assert "2511.17983" in paper["url"]


def test_zenodo_can_mint_a_doi_from_its_file(zenodo):
    assert set(zenodo) <= ZENODO_KEYS
    assert {"title", "description", "upload_type", "creators", "access_right", "license"} <= set(zenodo)
    assert (zenodo["upload_type"], zenodo["access_right"]) == ("software", "open")
    assert all(set(creator) <= {"name", "affiliation", "orcid"} for creator in zenodo["creators"])
    for related in zenodo["related_identifiers"]:
        assert {"identifier", "relation"} <= set(related)
        assert re.fullmatch(r"arXiv:\d{4}\.\d{5}", related["identifier"])


def test_all_say_the_same_as_the_package(citation, zenodo, project):
    assert citation["version"] == zenodo["version"] == __version__
    assert citation["license"] == zenodo["license"] == project["license"]
    assert citation["keywords"] == zenodo["keywords"] == project["keywords"]
    assert citation["title"] == zenodo["title"]
    names = [author["name"] for author in project["authors"]]
    assert [author["name"] for author in citation["authors"]] == names
    assert [creator["name"] for creator in zenodo["creators"]] == names
    assert names[0] in (ROOT / "LICENSE").read_text()


def test_nothing_is_invented(citation, zenodo):
    """There is no DOI yet, so none is named."""
    assert "doi" not in citation
    assert "doi" not in zenodo
