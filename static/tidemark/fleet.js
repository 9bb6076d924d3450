// The fleet page's own: addresses without empty parameters, a title that follows what is shown, servers chosen to be
// compared. Everything here is an improvement of a page that works without it.
(() => {
  "use strict";
  const LEAST = 2, MOST = 6;

  // An untouched menu sends an empty value; it would make an address that nobody wants to send on.
  document.addEventListener("htmx:configRequest", (event) => {
    if (event.detail.elt.id !== "fleet-filters") { return; }
    const parameters = event.detail.parameters;
    for (const name of [...new Set(parameters.keys())]) {
      if (parameters.get(name) === "") { parameters.delete(name); }
    }
  });

  // --- what is chosen to be compared survives a refresh --------------------------------------------------------------
  const chosen = new Set();
  const boxes = () => document.querySelectorAll(".fleet .fleet-pick input");
  const show = () => {
    for (const box of boxes()) {
      box.checked = chosen.has(box.value);
      box.disabled = !box.checked && chosen.size >= MOST;
    }
    const button = document.querySelector("[data-compare]");
    if (button) {
      button.dataset.plain ||= button.textContent;
      button.textContent = chosen.size ? button.dataset.words.replace("%s", chosen.size) : button.dataset.plain;
      button.disabled = chosen.size < LEAST;
    }
  };
  document.addEventListener("change", (event) => {
    const box = event.target.closest?.(".fleet .fleet-pick input");
    if (!box) { return; }
    if (box.checked) { chosen.add(box.value); } else { chosen.delete(box.value); }
    show();
  });
  document.addEventListener("submit", (event) => {
    if (event.target.id !== "compare") { return; }
    event.preventDefault();
    window.location.assign(`${event.target.action}?ids=${[...chosen].map(encodeURIComponent).join(",")}`);
  });

  // --- after a refresh or another choice -----------------------------------------------------------------------------
  document.addEventListener("htmx:afterSettle", () => {
    const head = document.getElementById("fleet-head");
    if (head && document.title !== head.dataset.title) { document.title = head.dataset.title; }
    show();
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    const { elt, successful } = event.detail;
    if (!successful || elt.id === "fleet-refresh") { return; }
    const words = document.getElementById("fleet-found"), place = document.getElementById("spoken");
    if (words && place && elt.closest("#fleet")) { place.textContent = words.textContent; }
  });
  // A browser keeps ticks over a reload; they are what was chosen.
  document.addEventListener("DOMContentLoaded", () => {
    for (const box of boxes()) { if (box.checked) { chosen.add(box.value); } }
    show();
  });
})();
