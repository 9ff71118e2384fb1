// Reviewing by keyboard: j k move, Enter opens, a r c d u act. Inert while somebody types, and where
// <html data-keys="off"> says so. Each key follows a link or presses a button that is on the page.
"use strict";
(() => {
  const root = document.documentElement;
  const one = (...selectors) => selectors.map((each) => document.querySelector(each)).find(Boolean);
  // The rows of the queue, or the changed lines of a page that is a diff alone.
  const lines = one("#to-diff") ? "" : ", .code tr.add .add-value a";
  const rows = () => [...document.querySelectorAll(`[data-review] .rowlink${lines}`)];

  // To the next or previous row; on a page without any, to the next or previous round.
  const step = (by) => {
    const all = rows();
    if (!all.length) return one(by > 0 ? 'main a[rel="next"]' : 'main a[rel="prev"]')?.click();
    const at = all.indexOf(document.activeElement);
    const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + by, 0), all.length - 1)];
    next.focus();
    next.scrollIntoView({ block: "center" });
  };

  // A decision that wants a reason: write it, then Enter sends it with this button.
  let pending = null;
  const write = (button) => {
    const text = one("#decide-reason");
    if (button && text) { pending = button; text.focus(); return; }
    const summary = one("#open-return");
    if (!summary) return;
    summary.parentElement.open = true;
    summary.parentElement.querySelector("textarea, input:not([type=hidden])")?.focus();
  };

  const keys = {
    j: () => step(1),
    k: () => step(-1),
    a: () => one('[data-key="a"]', "#do-approve")?.click(),
    r: () => write(one('[data-key="r"]')),
    c: () => {
      const line = document.activeElement.closest(".add-value, .say-link");
      const field = one("#say-all");
      if (line) line.querySelector("a")?.click();
      else if (rows().length) step(1);
      else if (field) { field.focus(); field.scrollIntoView({ block: "center" }); }
    },
    d: () => one("#to-diff")?.click(),
    u: () => one("#undo")?.click(),
  };

  document.addEventListener("keydown", (event) => {
    const field = event.target.closest?.("input, textarea, select, [contenteditable]");
    if (field) {
      const form = field.closest("form");
      if (event.key === "Escape") field.blur();
      if (event.key !== "Enter" || event.isComposing || !field.matches("textarea")) return;
      const short = field.id === "decide-reason" && !event.shiftKey;
      if (!short && !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      if (short && !pending) return;
      form.requestSubmit(short ? pending : undefined);
      return;
    }
    if (root.dataset.keys === "off" || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = keys[event.key];
    if (act) { event.preventDefault(); act(); }
  });

  // The offer to undo ends when the server no longer takes it.
  const toast = one("#toast");
  if (toast) setTimeout(() => toast.remove(), Number(toast.dataset.leftMs));
})();
