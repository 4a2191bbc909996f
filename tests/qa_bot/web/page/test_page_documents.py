"""Documents on the owner's page, in a real browser: files are chosen or dropped, listed and deleted."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

KILN = "# Kiln rules\n\nThe kiln of the pottery club opens at seven on Thursdays.\n"
EVIL = "<img src=x onerror=alert(1)>"


def upload(page: Page, *files: tuple[str, str | bytes]) -> None:
    chosen = [
        {"name": name, "mimeType": "text/plain", "buffer": text.encode() if isinstance(text, str) else text}
        for name, text in files
    ]
    page.get_by_label("Files, also archives").set_input_files(chosen)


def section(page: Page):
    return page.get_by_role("region", name="Documents")


def entries(page: Page):
    return section(page).get_by_role("list", name="Uploaded documents").get_by_role("listitem")


def test_a_file_is_uploaded_listed_and_deleted(service, visit):
    page = visit(f"{service.url}/owner")
    expect(section(page).get_by_role("status")).to_have_text("Nothing was uploaded yet.")
    page.get_by_label("Collection ").fill("clubs")
    upload(page, ("Öffnung.md", KILN), ("noise.md", b"\0\1"))
    results = section(page).get_by_role("list", name="Results of the upload")
    expect(results.get_by_role("listitem").first).to_have_text("Öffnung.md 1 added (Kiln rules)")
    expect(results.get_by_role("alert")).to_contain_text("Nothing was added. noise.md: Expected text")
    expect(section(page).get_by_role("status")).to_have_text("1 document was uploaded.")
    expect(entries(page)).to_have_text(["Kiln rules clubs / Öffnung.md"])
    assert service.get("/api/documents").json["documents"][0]["id"] == "Öffnung.md"
    entries(page).get_by_role("button", name="Delete “Kiln rules”").click()
    expect(page.get_by_role("button", name="Keep")).to_be_focused()
    page.get_by_role("button", name="Delete “Kiln rules” for good").click()
    expect(section(page).get_by_role("status")).to_have_text("“Kiln rules” was deleted.")
    expect(entries(page)).to_have_count(0)
    assert service.get("/api/documents").json["total"] == 0


def test_dropped_files_are_uploaded(service, visit):
    page = visit(f"{service.url}/owner")
    expect(section(page).get_by_role("status")).to_have_text("Nothing was uploaded yet.")
    page.locator(".documents-form").evaluate(
        """(form, text) => {
            const dropped = new DataTransfer();
            dropped.items.add(new File([text], "kiln.md"));
            form.dispatchEvent(new DragEvent("drop", { dataTransfer: dropped, bubbles: true, cancelable: true }));
        }""",
        KILN,
    )
    expect(entries(page)).to_have_text(["Kiln rules default / kiln.md"])
    upload(page, ("kiln.md", KILN))
    expect(section(page).get_by_role("list", name="Results")).to_have_text("kiln.md 1 unchanged (Kiln rules)")


def test_an_error_is_shown_and_another_writer_is_named(service, visit):
    page = visit(f"{service.url}/owner")
    with service.bot.home.lock("repair"):
        upload(page, ("kiln.md", KILN))
        expect(section(page).get_by_role("alert")).to_contain_text("repair by process")
    upload(page, ("kiln.md", KILN))
    expect(entries(page)).to_have_count(1)
    with service.bot.home.lock("repair"):
        entries(page).get_by_role("button").click()
        page.get_by_role("button", name="for good").click()
        expect(section(page).get_by_role("status")).to_contain_text("repair by process")
    expect(page.get_by_role("button", name="Keep")).to_be_visible()


def test_documents_are_uploaded_after_the_token(serve, visit):
    service = serve(token="secret")
    page = visit(f"{service.url}/owner")
    dialog = page.get_by_role("dialog", name="This service wants a token")
    dialog.get_by_label("Token").fill("secret")
    page.keyboard.press("Enter")
    expect(section(page).get_by_role("status")).to_have_text("Nothing was uploaded yet.")
    upload(page, ("kiln.md", KILN))
    expect(entries(page)).to_have_count(1)


def test_hostile_names_and_titles_stay_text(service, visit):
    page = visit(f"{service.url}/owner")
    expect(section(page).get_by_role("status")).to_have_text("Nothing was uploaded yet.")
    service.post("/api/documents", json={"title": EVIL, "text": KILN, "collection": EVIL})
    page.reload()
    expect(entries(page)).to_contain_text([EVIL])
    assert page.locator("main img, main script").count() == 0


def test_documents_are_deleted_by_keyboard(service, visit):
    for name in ("one", "two"):
        service.post("/api/documents", json={"title": name, "text": KILN})
    page = visit(f"{service.url}/owner")
    entries(page).get_by_role("button", name="Delete “two”").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Delete “two”", exact=True)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Keep")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Delete “one”")).to_be_focused()
    expect(entries(page)).to_have_count(1)


def test_documents_fit_a_phone(service, visit):
    service.post("/api/documents", json={"title": "W" * 300, "text": KILN, "collection": "W" * 100})
    phone = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
    page = visit(f"{service.url}/owner", **phone)
    expect(entries(page)).to_have_count(1)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth && innerWidth === 360")
    controls = re.findall(r"- (?:button|textbox|combobox)(.*)", section(page).aria_snapshot())
    assert controls
    assert all('"' in control for control in controls)
