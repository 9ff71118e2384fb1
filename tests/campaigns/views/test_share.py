"""Badges, feeds and the page that offers their addresses."""

from xml.etree import ElementTree

import pytest
from django.test import Client

from campaigns.models.event import record
from tests.campaigns.sample import HOSTILE

ATOM = "{http://www.w3.org/2005/Atom}"
OTHERS = ("/feeds/campaigns.atom", "/feeds/review.atom")


def out(campaign):
    own = [f"/badge/c/{campaign.pk}.svg", f"/badge/c/{campaign.pk}/r/5.svg"]
    return [*own, f"/feeds/c/{campaign.pk}.atom", *OTHERS]


def test_a_badge_names_gain_interval_and_baseline(page, sample):
    answer = page.get(f"/badge/c/{sample.pk}.svg")
    assert answer.headers["Content-Type"] == "image/svg+xml"
    title = ElementTree.fromstring(answer.content)[0].text
    assert title == "kopt: 3.35× faster [3.35, 3.36] vs v0 (round 1), n 10"
    slower = ElementTree.fromstring(page.get(f"/badge/c/{sample.pk}/r/5.svg").content)[0].text
    assert slower == "kopt: rejected, 1.068× slower [1.066, 1.071] vs round 3, n 10"
    assert page.get(f"/badge/c/{sample.pk}/r/99.svg").status_code == 404


def test_a_badge_that_is_the_same_is_not_sent_again(page, sample):
    first = page.get(f"/badge/c/{sample.pk}.svg")
    again = page.get(f"/badge/c/{sample.pk}.svg", headers={"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_while_a_campaign_runs_its_badge_names_the_incumbent_that_was_beside_the_best(
    page, running
):
    assert "vs round 2, n 20" in page.get(f"/badge/c/{running.pk}.svg").content.decode()


def test_feeds_are_atom_whatever_was_said(page, sample, running):
    record(running, "said", f"\x1b[31m\0{HOSTILE}\ufffe]]>")
    for address in (*OTHERS, f"/feeds/c/{running.pk}.atom"):
        answer = page.get(address)
        assert answer.headers["Content-Type"].startswith("application/atom+xml")
        feed = ElementTree.fromstring(answer.content)
        entries = feed.findall(f"{ATOM}entry")
        assert entries, address
        for entry in entries:
            assert entry.find(f"{ATOM}link").get("href").startswith("http://testserver/")
            assert entry.find(f"{ATOM}updated").text


def test_the_page_offers_addresses_that_need_no_login(page, sample):
    shown = page.get(f"/c/{sample.pk}/share")
    for address in [shown.context["badge_url"], *(each for _, each in shown.context["feeds"])]:
        assert Client().get(address).status_code == 200, address
    assert "http://testserver/badge/" in shown.content.decode()


def test_without_a_key_or_with_a_wrong_one_they_are_closed(page, sample, engineer):
    shown = page.get(f"/c/{sample.pk}/share")
    key = shown.context["badge_url"].partition("?key=")[2]
    for address in out(sample):
        wrong = ("", "1", f"{engineer.pk}-", "x-1", "9" * 40, "\0", "é", f"{key}0")
        tried = wrong if "badge" in address and "/r/" not in address else (*wrong, key)
        for each in tried:
            assert Client().get(address, {"key": each}).status_code == 403, (address, each)
        assert page.get(address).status_code == 200


@pytest.mark.parametrize("change", ["password", "closed"])
def test_a_key_ends_with_the_password_or_the_account(page, sample, engineer, change):
    address = page.get(f"/c/{sample.pk}/share").context["badge_url"]
    if change == "password":
        engineer.set_password("another one")
    else:
        engineer.is_active = False
    engineer.save()
    assert Client().get(address).status_code == 403
