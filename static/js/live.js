// What htmx 2 leaves undone: keyboard focus, open disclosures, clearing the status line, and ages that grow.
"use strict";
(() => {
  const CLEAR_MS = 12000;
  let focus = null;
  let open = [];
  let timer = 0;

  // Where an element is, in words that outlive it: its own id, its address, or its place among
  // those of its kind in the nearest thing with an id.
  const placeOf = (element) => {
    const home = element.closest("[id]");
    const tag = element.tagName.toLowerCase();
    return {
      id: element.id,
      href: element.getAttribute("href"),
      home: home?.id,
      tag,
      at: home ? [...home.querySelectorAll(tag)].indexOf(element) : 0,
    };
  };

  const find = (place) =>
    (place.id && document.getElementById(place.id)) ||
    (place.href && document.querySelector(`main a[href="${CSS.escape(place.href)}"]`)) ||
    (place.home && document.querySelectorAll(`#${CSS.escape(place.home)} ${place.tag}`)[place.at]);

  document.addEventListener("htmx:beforeSwap", () => {
    const active = document.activeElement;
    focus = active && active !== document.body ? placeOf(active) : null;
    open = [...document.querySelectorAll("main details[open]")].map(placeOf);
  });

  // At once after the swap, so that nobody sees them closed and a second answer does not take them
  // for closed; and again once htmx has settled, which takes `open` from elements with an id.
  const restore = () => {
    for (const place of open) {
      const details = find(place);
      if (details) details.open = true;
    }
    if (focus && document.activeElement === document.body) {
      const again = find(focus) || document.getElementById("main");
      again.focus({ preventScroll: true });
    }
  };
  document.addEventListener("htmx:afterSwap", restore);

  document.addEventListener("htmx:afterSettle", () => {
    restore();
    const live = document.getElementById("live");
    if (live && live.textContent.trim()) {
      clearTimeout(timer);
      timer = setTimeout(() => { live.textContent = ""; }, CLEAR_MS);
    }
  });

  // Ages go on between two answers of the server, by the time since each came: clocks may differ.
  const SECOND = 1000, MINUTE = 60, HOUR = 3600;
  const came = new WeakMap();
  const words = (seconds) => {
    if (seconds < 100) return `${Math.round(seconds)} s`;
    if (seconds < HOUR) return `${Math.round(seconds / MINUTE)} min`;
    const minutes = Math.round(seconds / MINUTE);
    return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")}`;
  };
  const grow = () => {
    for (const time of document.querySelectorAll("time[data-age]")) {
      if (!came.has(time)) came.set(time, performance.now());
      const seconds = Number(time.dataset.age) + (performance.now() - came.get(time)) / SECOND;
      const told = `${words(seconds)} ago`;
      if (time.textContent !== told) time.textContent = told;
      if (seconds > Number(time.dataset.lost || Infinity)) {
        time.previousElementSibling.textContent = "no heartbeat, the last one";
      }
    }
  };
  grow();
  setInterval(grow, SECOND);
  document.addEventListener("htmx:afterSettle", grow);

  // A form whose answer takes long says so, and is sent once. Its buttons are disabled after the
  // browser has read them; Back brings the page as it was.
  const busy = (form, on) => {
    form.setAttribute("aria-busy", String(on));
    for (const button of form.querySelectorAll("button")) button.disabled = on;
    document.querySelector(form.dataset.busy).hidden = !on;
  };
  document.addEventListener("submit", (event) => {
    if (event.target.matches("form[data-busy]")) setTimeout(busy, 0, event.target, true);
  });
  window.addEventListener("pageshow", () => {
    for (const form of document.querySelectorAll("form[data-busy]")) busy(form, false);
  });

  // A select that filters sends its form at once; without scripts its button does the same.
  document.addEventListener("change", (event) => {
    const form = event.target.closest("form[data-instant]");
    if (form && event.target.matches("select, input[type=radio]")) form.requestSubmit();
  });
})();
