// Buttons that copy: [data-copy] holds the exact text. Without this file they stay hidden.
"use strict";
(() => {
  const SAID_MS = 2000;

  document.documentElement.classList.add("copies");

  // The clipboard needs a secure address; a selected field works on plain http too.
  const select = (text) => {
    const field = document.createElement("textarea");
    field.value = text;
    field.className = "sr";
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    return done;
  };

  const copy = async (text) => {
    if (!navigator.clipboard) return select(text);
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      return select(text);
    }
  };

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const done = await copy(button.dataset.copy);
    button.focus();
    const words = button.textContent;
    const live = document.getElementById("live");
    const said = done ? "Copied" : "Not copied: select the text instead";
    if (live) live.textContent = said;
    if (button.dataset.said) return;
    button.dataset.said = said;
    button.textContent = said;
    setTimeout(() => {
      button.textContent = words;
      delete button.dataset.said;
      if (live && live.textContent === said) live.textContent = "";
    }, SAID_MS);
  });
})();
