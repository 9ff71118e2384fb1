"""A wiki in the middle of its work: drift, flags, proposals, returns, plans, and what is done."""

from django.contrib.auth.models import Group, User

from knowledge.curation.propose import CitedLines, propose
from knowledge.curation.review import approve, give_back
from knowledge.exchange.batches import confirm, drop
from knowledge.exchange.importer import ImportOptions, take_files
from knowledge.exchange.plan import plan_import
from knowledge.exchange.readers.files import WikiFiles
from knowledge.models import Document, Platform, Spec
from tests.kept_wiki import put_wiki
from tests.knowledge.conftest import BANDWIDTH, PLATFORM, SOURCE, TDP, facts

X1, H200 = "docs/hardware/x-1.md", "docs/hardware/h200-sxm.md"
L2 = f"- l2_size: 50 MiB | {SOURCE}"
NOTES = """# Notes on the X 1

Read from the vendor's page by hand.

| what | value |
|---|---|
| memory bandwidth, as the flyer has it | 4.9 TB/s |
| memory bandwidth, as a mail has it | 5.1 TB/s |
| board power | 7000000 W |
"""


def text_of(*lines: str) -> str:
    return f"# X 1\n\n{PLATFORM}\n## Specs\n\n" + "\n".join(lines) + "\n"


def build_full_wiki() -> dict[str, str]:
    """Store it; name of a page → its address. What is proposed was proposed by `enzo`."""
    put_wiki()
    people = {}
    for name, role in {"enzo": "engineer", "cora": "curator"}.items():
        people[name] = User.objects.create_user(name)
        people[name].groups.add(Group.objects.get(name=role))
    take_files({X1: text_of(L2, BANDWIDTH, TDP)}, ImportOptions(origin="small"))
    first = Spec.objects.get(platform__slug="x-1", metric="tdp").citation.revision
    take_files({"docs/notes.md": NOTES}, ImportOptions(origin="notes"))
    note = Document.objects.get(path="docs/notes.md").latest
    x1, enzo = Platform.objects.get(slug="x-1"), people["enzo"]
    sound = propose(x1, facts("4.9 TB/s", rank="normal"), CitedLines(note, 7, 7), enzo, "the flyer")
    approve(sound, people["cora"], "read it there")
    same = facts("5.1 TB/s", rank="normal")
    kept = propose(x1, facts("4.9 TB/s", rank="normal"), CitedLines(note, 7, 8), enzo, "both lines")
    changed = propose(
        x1, same, CitedLines(note, 7, 8), enzo, "the mail is newer", replaces=_used(kept)
    )
    back = propose(x1, facts("5.1 TB/s", rank="normal"), CitedLines(note, 8, 8), enzo, "the mail")
    give_back(back, people["cora"], "a mail is no source")
    odd = propose(x1, facts("7000000 W", metric="tdp"), CitedLines(note, 9, 9), enzo, "board power")
    new = text_of("", "", BANDWIDTH, TDP.replace("700 W", "750 W"))
    take_files({X1: new}, ImportOptions(origin="small"))
    batches = _imports(people)
    flagged = Spec.objects.get(platform=x1, metric="tdp", state="approved")
    lost = Spec.objects.get(platform=x1, metric="l2_size")
    moved = Spec.objects.get(platform=x1, shown="4.8 TB/s")
    pinned = Spec.objects.get(
        platform__slug="h200-sxm", metric="memory_bandwidth", state="approved"
    )
    return {
        "home": "/w/",
        "sheet": "/w/p/h200-sxm/",
        "sheet of drift": "/w/p/x-1/",
        "sheet with gaps": "/w/p/mi308x/?need=roofline",
        "sheet refused": "/w/p/x-1/?asof=yesterday",
        "sheet of the past": f"/w/p/h200-sxm/?asof={first.created_at:%Y-%m-%d}",
        "values": "/w/specs/",
        "values with flags": "/w/specs/?flag=any",
        "values found": "/w/specs/?q=bandwidth+h200",
        "no values": "/w/specs/?q=nonsense+words",
        "compare": "/w/compare/",
        "compared": "/w/compare/?p=h200-sxm&p=h100-sxm5-80gb&p=mi300x&p=x-1",
        "comparison refused": "/w/compare/?p=x-1",
        "documents": "/w/docs/",
        "document": f"/w/docs/{X1}",
        "document refused": f"/w/docs/{X1}?lines=99",
        "shipped document": f"/w/docs/{H200}?lines=23-25",
        "rendered": f"/w/docs/{H200}?view=rendered",
        "diff": f"/w/docs/{X1}?against={first.short}",
        "pinned spec": pinned.get_absolute_url(),
        "proposal": odd.get_absolute_url(),
        "kept citation": changed.get_absolute_url(),
        "returned": back.get_absolute_url(),
        "changed": flagged.get_absolute_url(),
        "lost": lost.get_absolute_url(),
        "moved": moved.get_absolute_url(),
        "propose": "/w/propose/",
        "propose from lines": f"/w/propose/?doc={H200}&first=23&last=23",
        "propose instead": f"/w/propose/?replaces={pinned.pk}",
        "review": "/w/review/",
        "strategies": "/x/strategies/",
        "strategy": "/x/strategies/cu.reg.rowcache/",
        "imports": "/w/imports/",
        **{f"import {state}": batch.get_absolute_url() for state, batch in batches.items()},
    }


def _used(proposal: Spec) -> Spec:
    """The same proposal, approved by whoever may."""
    curator = User.objects.get(username="cora")
    return approve(proposal, curator, "read it there")


def _imports(people):
    text = Document.objects.get(path=H200).latest.text
    files = {
        H200: text.replace("- memory_capacity: 141 GB", "- memory_capacity: 142 GB"),
        "broken.md": "# B\n\n## Specs\n\n- tdp: 1 | evidence=x\n",
        "lines.md": f"# N\n\n- tdp: 1 W <- <gpu-wiki>/docs/gone.md:L1\n\n- long {'x' * 300}\n",
    }
    planned = plan_import(WikiFiles("team", files), people["enzo"])
    done = plan_import(WikiFiles("more", {"docs/more.md": "# More\n\nText.\n"}), people["enzo"])
    confirm(done, people["cora"])
    dropped = plan_import(WikiFiles("less", {"docs/less.md": "# Less\n"}), people["enzo"])
    drop(dropped, people["enzo"], "not needed")
    return {"planned": planned, "confirmed": done, "dropped": dropped}
