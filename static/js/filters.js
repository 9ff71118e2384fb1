// A page that comes back whole from the browser's memory shows the filter that its address has.
addEventListener("pageshow", (event) => {
  if (event.persisted) document.querySelectorAll("form.filters:not([hx-get])").forEach((form) => form.reset());
});
