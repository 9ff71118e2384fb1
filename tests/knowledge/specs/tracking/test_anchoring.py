"""A citation whose document changed is found again, or shown, and never guessed."""

import pytest

from knowledge.specs.citation import (
    CitationError,
    CitationLine,
    CitationState,
    quoted,
    resolve,
    split_lines,
)
from knowledge.specs.tracking.anchoring import Reanchor
from tests.knowledge.effort import grows_evenly

OK, MOVED, CHANGED, LOST = (
    CitationState.OK,
    CitationState.MOVED,
    CitationState.CHANGED,
    CitationState.LOST,
)
OLD = """\
# Two parts

## H100

| bandwidth | 3.35 TB/s |
| multiprocessors | 132 |

## H200

| bandwidth | 4.8 TB/s |
| multiprocessors | 132 |
"""


def citation(shown, first, last=None):
    return CitationLine("metric", shown, "docs/a.md", first, last or first)


def anchor(new, shown, first, last=None, old=OLD):
    """The anchor, once it is certain that what it promises of ok and moved holds."""
    cited = citation(shown, first, last)
    found = Reanchor(old, new).anchor(cited, quoted(old, cited.first_line, cited.last_line))
    if found.state in (OK, MOVED):
        again = citation(shown, found.first_line, found.last_line)
        assert resolve(again, found.quote, new) is OK
        assert (found.state is OK) == (found.first_line == first)
    if found.first_line is not None:
        assert found.quote == quoted(new, found.first_line, found.last_line)
    return found


def test_it_leaves_a_citation_of_an_unchanged_document_alone():
    found = anchor(OLD, "4.8 TB/s", 10)
    assert (found.state, found.first_line, found.last_line) == (OK, 10, 10)
    assert (found.quote, found.note) == ("| bandwidth | 4.8 TB/s |", "")


def test_it_does_not_mind_line_endings_and_blanks_at_the_end_of_lines():
    assert anchor(OLD.replace("\n", "\r\n"), "132 SM", 11).state is OK
    found = anchor(OLD.replace(" |\n", " |  \t\n"), "132 SM", 11)
    assert (found.state, found.quote) == (OK, "| multiprocessors | 132 |  \t")


@pytest.mark.parametrize("now", ["    | bandwidth | 4.8 TB/s |", "| bandwidth |  4.8 TB/s |"])
def test_it_shows_a_line_whose_blanks_changed_at_the_start_or_inside(now):
    found = anchor(OLD.replace("| bandwidth | 4.8 TB/s |", now), "4.8 TB/s", 10)
    assert (found.state, found.first_line) == (CHANGED, 10)
    assert found.note == "only blanks differ"


def test_it_moves_with_its_section_and_not_to_another_product():
    swapped = "# Two parts\n\n" + OLD[OLD.index("## H200") :] + "\n"
    swapped += OLD[OLD.index("## H100") : OLD.index("## H200")]
    found = anchor(swapped, "132 SM", 11)
    assert (found.state, found.first_line, found.note) == (MOVED, 6, "from L11 to L6")
    assert anchor(swapped, "132 SM", 6).first_line == 11


def test_it_is_not_content_with_another_products_line_at_its_place():
    doubled = OLD.replace("## H100", "## A\n\n| multiprocessors | 108 |\n\n\n## H100")
    assert quoted(doubled, 11, 11) == quoted(OLD, 11, 11)
    found = anchor(doubled, "132 SM", 11)
    assert (found.state, found.first_line) == (MOVED, 16)


def test_it_does_not_take_the_end_of_a_new_section_for_that_of_the_last_one():
    more = OLD.replace("4.8 TB/s", "4.9 TB/s")
    more += "\n## H300\n\n| bandwidth | 9.9 TB/s |\n| multiprocessors | 132 |\n"
    found = anchor(more, "132 SM", 11)
    assert (found.state, found.first_line) == (OK, 11)
    assert anchor(more, "4.8 TB/s", 10).first_line == 10


def test_it_shows_one_altered_digit_although_the_old_text_stands_elsewhere():
    found = anchor(OLD.replace("132", "144", 1), "132 SM", 6)
    assert (found.state, found.first_line) == (CHANGED, 6)
    assert found.quote == "| multiprocessors | 144 |"
    assert found.note == "'132' became '144'; '132 SM' no longer stands there"


def test_it_names_the_copy_that_stands_under_another_heading():
    moved = OLD.replace("4.8 TB/s", "4.9 TB/s") + "\n## Other\n\n| bandwidth | 4.8 TB/s |\n"
    found = anchor(moved, "4.8 TB/s", 10)
    assert (found.state, found.first_line) == (CHANGED, 10)
    assert found.note.endswith("; the old text stands at L15")


def test_it_shows_a_line_that_went_to_another_section_where_nothing_replaced_it():
    line = "| bandwidth | 4.8 TB/s |\n"
    found = anchor(OLD.replace(line, "") + f"\n## Memory\n\n{line}", "4.8 TB/s", 10)
    assert (found.state, found.first_line) == (CHANGED, 14)
    assert found.note == (
        "the text is unchanged; from L10 to L14; the heading above was 'H200' and is 'Memory'"
    )


def test_it_does_not_follow_a_line_that_several_products_had_to_another_product():
    row = "| multiprocessors | 132 |\n"
    found = anchor(OLD.replace(row, "", 1) + f"\n## H300\n\n{row}", "132 SM", 6)
    assert (found.state, found.first_line) == (CHANGED, 14)
    assert found.note == "the text stands at L14; the lines around do not show which one is meant"


def test_it_keeps_sections_apart_although_the_title_changed_too():
    head, first, second = (
        OLD.partition("## H100")[0],
        "## H100\n\na\nrow 1\n",
        "## H200\n\nb\nrow 1\n",
    )
    old = head + first + second
    for one, other, line in ((first, second, 10), (second, first, 6)):
        kept = "# New\n\n" + other.replace("row 1\n", "") + one
        assert anchor(kept, "1", line, old=old).state is LOST
        kept = "# New\n\n" + one + other.replace("row 1\n", "")
        assert anchor(kept, "1", line, old=old).state is LOST


def test_it_shows_the_lines_of_a_renamed_heading_and_no_others():
    renamed = OLD.replace("## H200", "## H200 SXM")
    found = anchor(renamed, "132 SM", 11)
    assert (found.state, found.first_line) == (CHANGED, 11)
    assert found.note == ("the text is unchanged; the heading above was 'H200' and is 'H200 SXM'")
    assert anchor(renamed, "132 SM", 6).state is OK


def test_it_does_not_choose_between_copies_that_surroundings_cannot_tell_apart():
    line = "| bandwidth | 4.8 TB/s |\n"
    copies = f"\n## X\n\n{line}\n## Y\n\n{line}"
    found = anchor(OLD.replace(line, "") + copies, "4.8 TB/s", 10)
    assert (found.state, found.first_line) == (CHANGED, 14)
    assert found.note == (
        "the text stands at L14, L18; the lines around do not show which one is meant"
    )


def test_it_does_not_choose_which_of_two_equal_lines_is_left():
    old = "# T\n\nrow 7\n\na\n\nrow 7\n\nb\n"
    for line in (3, 7):
        found = anchor("# T\n\nc\n\nrow 7\n\nd\n", "7", line, old=old)
        assert (found.state, found.first_line) == (CHANGED, 5)
        assert "L5; the lines around" in found.note


def test_it_decides_between_copies_by_the_lines_around_them():
    line = "| bandwidth | 4.8 TB/s |\n"
    rest = "| multiprocessors | 132 |\n"
    cut = OLD[: OLD.index("## H200")]
    found = anchor(f"{cut}## X\n\n{line}\n## Y\n\n{line}{rest}", "4.8 TB/s", 10)
    assert (found.state, found.first_line) == (CHANGED, 14)
    assert found.note.endswith("the heading above was 'H200' and is 'Y'")


def test_it_calls_a_deleted_line_lost():
    found = anchor(OLD.replace("| bandwidth | 4.8 TB/s |\n", ""), "4.8 TB/s", 10)
    assert (found.state, found.first_line, found.last_line, found.quote) == (LOST, None, None, "")
    assert found.note


def test_it_calls_a_document_that_is_gone_missing():
    found = Reanchor(OLD, None).anchor(citation("132 SM", 11), quoted(OLD, 11, 11))
    assert (found.state, found.first_line, found.quote) == (CitationState.SOURCE_MISSING, None, "")


def test_it_shows_a_quote_that_never_held_its_number_wherever_it_stands():
    found = anchor(f"new\n{OLD}", "132 SM", 10)
    assert (found.state, found.first_line) == (CHANGED, 11)
    assert "does not hold '132 SM'" in found.note


def test_it_follows_several_lines_and_shows_where_they_were_torn_apart():
    found = anchor(f"new\n{OLD}", "4.8 TB/s", 10, 11)
    assert (found.state, found.first_line, found.last_line) == (MOVED, 11, 12)
    torn = OLD.replace("4.8 TB/s |\n", "4.8 TB/s |\n| memory | HBM3e |\n")
    found = anchor(torn, "4.8 TB/s", 10, 11)
    assert (found.state, found.first_line, found.last_line) == (CHANGED, 10, 12)
    found = anchor(OLD.replace("4.8", "4.9"), "4.8 TB/s", 10, 11)
    assert (found.state, found.first_line, found.last_line) == (CHANGED, 10, 11)


def test_it_shows_where_a_quote_began_whose_lines_went_far_apart():
    far = OLD.replace("4.8 TB/s |\n", "4.8 TB/s |\n" + "| other | HBM3e |\n" * 9)
    found = anchor(far, "4.8 TB/s", 10, 11)
    assert (found.state, found.first_line, found.last_line) == (CHANGED, 10, 10)


def test_it_prefers_a_line_with_other_digits_to_one_with_other_words():
    found = anchor("# T\n\na b c d\na b c 2\n", "1", 3, old="# T\n\na b c 1\n")
    assert (found.state, found.first_line) == (CHANGED, 4)


def test_it_shows_what_replaced_a_line_word_for_word():
    found = anchor(OLD.replace("| bandwidth | 4.8 TB/s |", "fast memory"), "4.8 TB/s", 10)
    assert (found.state, found.first_line, found.quote) == (CHANGED, 10, "fast memory")


def test_it_shows_every_line_of_a_document_with_another_title():
    found = anchor(OLD.replace("# Two parts", "# Both parts"), "4.8 TB/s", 10)
    assert (found.state, found.first_line) == (CHANGED, 10)
    assert found.note == "the text is unchanged; the title was 'Two parts' and is 'Both parts'"
    assert anchor(f"# New\n{OLD}", "4.8 TB/s", 10).state is CHANGED


def test_it_prefers_the_exact_text_within_its_section():
    line, rest = "| bandwidth | 4.8 TB/s |\n", "| multiprocessors | 132 |\n"
    later = OLD.replace(line, line.replace("4.8", "4.9")) + line
    found = anchor(later, "4.8 TB/s", 10)
    assert (found.state, found.first_line) == (MOVED, 12)
    both = OLD.replace(line, "") + line + f"\n## X\n\n{line}{rest}"
    found = anchor(both, "4.8 TB/s", 10)
    assert (found.state, found.first_line) == (MOVED, 11)


def test_it_prefers_its_section_to_the_old_neighbours():
    row, rest = "row 1\n", "b\nc\nd\n"
    new = f"# T\n\n## A\n\n{rest}{row}\n## X\n\n{row}{rest}"
    found = anchor(new, "1", 5, old=f"# T\n\n## A\n\n{row}{rest}")
    assert (found.state, found.first_line) == (MOVED, 8)


def test_it_tells_copies_apart_by_the_heading_above_them():
    rows = "p\nq\nr\n| bandwidth | 4.8 |\n"
    old = f"# T\n\n## A\n\n### Memory\n\n{rows}"
    new = f"# T\n\n## B\n\n### Other\n\n{rows}\n### Memory\n\n{rows}"
    found = anchor(new, "4.8", 10, old=old)
    assert (found.state, found.first_line) == (CHANGED, 17)
    assert found.note.endswith("the heading above was 'A' and is 'B'")


def test_it_finds_an_edited_line_that_also_moved_within_its_section():
    line, rest = "| bandwidth | 4.8 TB/s |\n", "| multiprocessors | 132 |\n"
    found = anchor(OLD.replace(line + rest, rest + line.replace("4.8", "4.9")), "4.8 TB/s", 10)
    assert (found.state, found.first_line) == (CHANGED, 11)


def test_it_reads_a_hash_in_a_code_fence_as_no_heading():
    code = OLD.replace("| bandwidth | 4.8", "```\n# note\n```\n\n| bandwidth | 4.8")
    found = anchor(code, "132 SM", 11)
    assert (found.state, found.first_line, found.note) == (MOVED, 15, "from L11 to L15")


def test_it_finds_a_line_that_was_reworded():
    found = anchor(OLD.replace("bandwidth | 4.8 TB/s", "peak bandwidth | 4.8 TB/s (3)"), "4.8", 10)
    assert (found.state, found.first_line) == (CHANGED, 10)
    assert found.note == "the text was rewritten; '4.8' still stands there"


def test_it_refuses_a_quote_that_the_old_text_does_not_have():
    with pytest.raises(CitationError, match=r"a\.md:L10: the old text reads otherwise"):
        Reanchor(OLD, OLD).anchor(citation("4.8 TB/s", 10), "| bandwidth | 4.9 TB/s |")
    with pytest.raises(CitationError):
        Reanchor(OLD, OLD).anchor(citation("4.8 TB/s", 99), "")


def long_document(size):
    rows = [f"| metric {n} | {n}.5 | source {n % 17} |" for n in range(size)]
    return [f"## Part {n // 40}" if n % 40 == 0 else row for n, row in enumerate(rows)]


def shuffled(lines):
    return [lines[n * 2_477 % len(lines)] for n in range(len(lines))]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda lines: [*lines[:9], "new", *lines[9:]], id="one line more"),
        pytest.param(lambda lines: [line.replace("1", "2") for line in lines], id="digits"),
        pytest.param(lambda lines: [line.replace("##", "###") for line in lines], id="headings"),
        pytest.param(shuffled, id="shuffled"),
        pytest.param(
            lambda lines: [f"wholly other {n}" for n in range(len(lines))], id="rewritten"
        ),
        pytest.param(lambda lines: lines[: len(lines) // 2], id="half"),
    ],
)
@pytest.mark.parametrize("alike", [False, True])
def test_its_work_grows_with_the_citations_of_a_document(change, alike):
    def work(size):
        lines = long_document(size)
        if alike:
            lines = [line if line.startswith("#") else "| same | 1.5 |" for line in lines]
        reanchor = Reanchor("\n".join(lines), "\n".join(change(lines)))
        for line in [n for n in range(size) if n % 40][::4]:
            reanchor.anchor(citation("1.5 W" if alike else f"{line}.5 W", line + 1), lines[line])

    assert grows_evenly(work, 400)


@pytest.mark.parametrize("shown", ["UNKNOWN", "NONE"])
def test_it_follows_lines_that_were_searched_without_a_number(shown):
    assert anchor(OLD, shown, 10).state is OK
    found = anchor(OLD.replace("## H200\n", "## H200\n\nSXM"), shown, 10)
    assert (found.state, found.first_line) == (MOVED, 11)
    found = anchor(OLD.replace("4.8 TB/s", "4.9 TB/s"), shown, 10)
    assert (found.state, found.note) == (CHANGED, "'4.8' became '4.9'")


@pytest.mark.parametrize("change", [("GB/s", "TB/s"), ("4.8", "4.9"), ("| 4.8 |\n\n", "| 4.8 |\n")])
def test_its_work_grows_with_a_document_of_lines_that_are_alike(change):
    part = "All of it:\n\n| metric | GB/s |\n|---|---|\n" + "| bandwidth | 4.8 |\n" * 94 + "\n"

    def work(parts):
        old = "".join(f"## Part {n}\n\n{part}" for n in range(parts))
        lines = split_lines(old)
        cited = [n for n, line in enumerate(lines, start=1) if "4.8" in line][::10]
        reanchor = Reanchor(old, old.replace(*change))
        for line in cited:
            reanchor.anchor(citation("4.8 TB/s", line), lines[line - 1])

    assert grows_evenly(work, 8)


FIELDS = "evidence=documented | kind=vendor | rank=preferred | source=data sheet"


@pytest.mark.parametrize(
    ("gone", "left", "edited"),
    [
        ("sm_count: 132", "tdp: 132", "tdp: 700"),
        ("sm_count: 132 SM", "tdp: 700 W", "tdp: 750 W"),
        ("peak_fp16: 989 TFLOPS", "peak_fp8: 1979 TFLOPS", "peak_fp8: 1978 TFLOPS"),
    ],
)
def test_a_deleted_line_does_not_become_the_similar_one_below_it(gone, left, edited):
    old = f"# A\n\n## Specs\n\n- {gone} | {FIELDS}\n- {left} | {FIELDS}\n"
    new = f"# A\n\n## Specs\n\n- {edited} | {FIELDS}\n"
    assert anchor(new, gone.partition(": ")[2], 5, old=old).state is LOST
    below = anchor(new, left.partition(": ")[2], 6, old=old)
    assert (below.state, below.first_line) == (CHANGED, 5)


def test_a_renamed_metric_of_the_same_value_became_another():
    old = f"# A\n\n## Specs\n\n- tdp: 700 W | {FIELDS}\n"
    found = anchor(old.replace("tdp", "board_power"), "700 W", 5, old=old)
    assert found.note == "'tdp:' became 'board_power:'; '700 W' still stands there"
