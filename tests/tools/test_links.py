"""Links in README and docs lead somewhere, the README stays short, and printed commands work."""

from __future__ import annotations

import re
import shlex
from importlib.util import find_spec

import pytest
from django.core.management import BaseCommand, get_commands, load_command_class

from tests.architecture.source_tree import ROOT

PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")])
EXAMPLES = sorted((ROOT / "docs" / "examples").glob("*/README.md"))
MANUALS = [*PAGES, *EXAMPLES, ROOT / "docs" / "benchmarks" / "README.md"]
PROGRAM = re.compile(
    r"(?:[A-Z_]+=\S+ +)*(?:make|git|cp|celery|python|curl|pip|\S*manage\.py(?= [a-z])|\S*/python)\b"
)
EVERYWHERE = {"cp", "cd", "git", "curl"}
# The interpreter of a clone, or one that the reader has.
PYTHONS = {".venv/bin/python", "/path/to/that/bin/python"}
LINK = re.compile(r"\]\(([^)#\s]+)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_it_links_only_to_what_is_there(page):
    targets = [t for t in LINK.findall(page.read_text()) if "://" not in t]
    assert [t for t in targets if not (page.parent / t).exists()] == []


def test_the_readme_has_at_most_150_lines_and_reaches_every_page():
    text = (ROOT / "README.md").read_text()
    assert text.count("\n") <= 150
    named = {page.relative_to(ROOT).as_posix() for page in PAGES} - {"README.md"}
    assert {name for name in named if f"({name})" not in text} == set()


def test_a_command_on_a_page_works_as_it_is_printed():
    bare = re.compile(r"""(?<!\.venv/bin/)python manage\.py|"python", "manage\.py"|bin/celery""")
    places = ("templates", "campaigns/views", "knowledge/views", "campaigns/records", "knowledge")
    found = (path for place in places for path in (ROOT / place).rglob("*"))
    texts = {path for path in found if path.suffix in (".html", ".py")}
    assert len(texts) > 50
    assert [path.name for path in texts if bare.search(path.read_text())] == []


def test_a_command_in_the_docs_works_as_it_is_printed():
    """Its program is there after a clone and `make`, and its verbs and options exist."""
    lines = [(page.name, line) for page in MANUALS for line in _command_lines(page.read_text())]
    assert len(lines) > 40
    wrong = [f"{name}: {line}: {said}" for name, line in lines if (said := _amiss(line))]
    assert wrong == []


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("celery -A kopt worker -Q builds", "no program 'celery'"),
        ("python manage.py up", "no program 'python'"),
        (".venv/bin/python manage.py campaing new", "no command 'campaing'"),
        (".venv/bin/python manage.py campaign begin", "invalid choice: 'begin'"),
        (".venv/bin/python manage.py up --onyl web", "no option --onyl"),
        (".venv/bin/python -m tools.nothing", "no module tools.nothing"),
        ("make everything", "no target 'everything'"),
        ("git -C PATH diff | manage.py repository list", "no program 'manage.py'"),
    ],
)
def test_it_sees_a_command_that_does_not_work(line, said):
    assert said in _amiss(line)


def _command_lines(text):
    """The commands of a page: of its blocks without a language, and those named in a sentence."""
    plain = re.sub(r"```\w+\n.*?```", "", text, flags=re.S)
    for block in re.findall(r"```\n(.*?)```", plain, flags=re.S):
        for line in block.replace("\\\n", " ").splitlines():
            if PROGRAM.match(line.strip()):
                yield line.strip()
    said = re.sub(r"```.*?```", "", plain, flags=re.S)
    yield from (one for one in re.findall(r"`([^`]+)`", said) if "manage.py " in one)
    yield from (one for one in re.findall(r"`([^`]+)`", said) if one.startswith("python -m"))


def _amiss(line):
    """Why a command does not work as it is printed; empty when nothing is known against it."""
    for part in line.split(" | "):
        words = shlex.split(part.split("  #")[0].replace("…", ""), comments=True)
        while words and re.match(r"[A-Z_]+=", words[0]):
            words.pop(0)
        if words and (said := _amiss_of(words)):
            return said
    return ""


def _amiss_of(words):
    program, *rest = words
    if program == "make":
        targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.M)
        wanted = [word for word in rest if "=" not in word]
        return "".join(f"no target '{word}'" for word in wanted if word not in targets)
    if program in EVERYWHERE:
        return ""
    if program not in PYTHONS:
        return f"no program '{program}'"
    if rest[0] == "-m":
        return "" if find_spec(rest[1]) else f"no module {rest[1]}"
    return _amiss_of_manage(rest[1:]) if rest[0] == "manage.py" else ""


def _amiss_of_manage(words):
    noun, *rest = words
    if noun not in get_commands():
        return "" if noun in ("NOUN", "--help") else f"no command '{noun}'"
    owner = get_commands()[noun]
    command = owner if isinstance(owner, BaseCommand) else load_command_class(owner, noun)
    parser = command.create_parser("manage.py", noun)
    verbs = next((a.choices for a in parser._actions if a.dest == "verb"), {})
    if verbs:
        if not rest or rest[0] not in verbs:
            return f"invalid choice: {rest[0]!r}" if rest else "no verb"
        parser = verbs[rest.pop(0)]
    known = {option for action in parser._actions for option in action.option_strings}
    used = [word.partition("=")[0] for word in rest if word.startswith("--")]
    return "".join(f"no option {option}" for option in used if option not in known)
