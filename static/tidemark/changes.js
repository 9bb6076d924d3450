// What somebody has looked at stays ticked for exactly this plan, on this browser; another plan begins unticked.
(() => {
  "use strict";
  const key = (box) => `viewed:${box.dataset.viewed}`;
  const restore = () => {
    for (const box of document.querySelectorAll("[data-viewed]")) {
      try { box.checked = window.localStorage.getItem(key(box)) === "1"; } catch { /* without storage it is not remembered */ }
    }
  };
  document.addEventListener("change", (event) => {
    const box = event.target.closest?.("[data-viewed]");
    if (!box) { return; }
    try {
      if (box.checked) { window.localStorage.setItem(key(box), "1"); } else { window.localStorage.removeItem(key(box)); }
    } catch { /* the same */ }
  });
  document.addEventListener("DOMContentLoaded", restore);
  document.addEventListener("htmx:afterSwap", restore);
})();
