// Ctrl K goes to any page by a few letters; `?` lists the keys. Without scripts both are links in the footer.
"use strict";
(() => {
  const palette = document.getElementById("palette");
  if (!palette) return;
  const field = palette.querySelector("input");
  const links = () => [...palette.querySelectorAll("a")];
  const root = document.documentElement;
  const typing = (element) => element.closest("input, textarea, select, [contenteditable]");

  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      if (palette.open) return palette.close();
      palette.showModal();
      field.select();
      field.dispatchEvent(new Event("input", { bubbles: true }));
    } else if (event.key === "?" && !typing(event.target) && root.dataset.keys !== "off") {
      document.getElementById("to-shortcuts").click();
    }
  });

  // The arrows walk the list; Enter in the field takes the first.
  palette.addEventListener("keydown", (event) => {
    const all = links();
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && all.length) {
      event.preventDefault();
      const at = all.indexOf(document.activeElement);
      (all[at + step] || (step > 0 ? all[0] : field)).focus();
    } else if (event.key === "Enter" && event.target === field && all.length) {
      event.preventDefault();
      all[0].click();
    }
  });
})();
