// What htmx 2 leaves undone after a swap: keyboard focus, open disclosures, and clearing the status line.
"use strict";
(() => {
  const CLEAR_MS = 12000;
  let focus = null;
  let open = [];
  let timer = 0;

  // Where an element is, in words that outlive it: its own id, its address, or its place in the
  // nearest thing with an id.
  const placeOf = (element) => ({
    id: element.id,
    href: element.getAttribute("href"),
    home: element.closest("[id]")?.id,
    tag: element.tagName.toLowerCase(),
  });

  const find = (place) =>
    (place.id && document.getElementById(place.id)) ||
    (place.href && document.querySelector(`main a[href="${CSS.escape(place.href)}"]`)) ||
    (place.home && document.querySelector(`#${CSS.escape(place.home)} ${place.tag}`));

  document.addEventListener("htmx:beforeSwap", () => {
    const active = document.activeElement;
    focus = active && active !== document.body ? placeOf(active) : null;
    open = [...document.querySelectorAll("main details[open]")].map(placeOf);
  });

  document.addEventListener("htmx:afterSettle", () => {
    for (const place of open) {
      const details = find(place);
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
