// What htmx 2 leaves undone after a swap: keyboard focus, open disclosures, and clearing the status line.
"use strict";
(() => {
  const CLEAR_MS = 12000;
  let focus = null;
  let open = [];
  let timer = 0;

  const find = (place) =>
    (place.id && document.getElementById(place.id)) ||
    (place.href && document.querySelector(`main a[href="${CSS.escape(place.href)}"]`));

  document.addEventListener("htmx:beforeSwap", () => {
    const active = document.activeElement;
    focus = active && active !== document.body
      ? { id: active.id, href: active.getAttribute("href") }
      : null;
    open = [...document.querySelectorAll("details[id][open]")].map((details) => details.id);
  });

  document.addEventListener("htmx:afterSettle", () => {
    for (const id of open) {
      const details = document.getElementById(id);
      if (details) details.open = true;
    }
    if (focus && document.activeElement === document.body) {
      const again = find(focus) || document.getElementById("main");
      again.focus({ preventScroll: true });
    }
    const live = document.getElementById("live");
    if (live && live.textContent.trim()) {
      clearTimeout(timer);
      timer = setTimeout(() => { live.textContent = ""; }, CLEAR_MS);
    }
  });

  // A select that filters sends its form at once; without scripts its button does the same.
  document.addEventListener("change", (event) => {
    const form = event.target.closest("form[data-instant]");
    if (form && event.target.matches("select, input[type=radio]")) form.requestSubmit();
  });
})();
