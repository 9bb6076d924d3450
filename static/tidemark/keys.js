// The keyboard map. A key presses what carries it in aria-keyshortcuts, so that whatever a key can do a pointer can do,
// too. No single key acts on a server, and none is heard while somebody types.
(() => {
  "use strict";

  const typing = (target) => target.isContentEditable || (/^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) && !/^(checkbox|radio|button)$/.test(target.type));
  const shown = (one) => one.getClientRects().length > 0 || one.closest("details:not([open])") !== null;
  const bearer = (key) => [...document.querySelectorAll("[aria-keyshortcuts]")].find((one) => !one.hidden && shown(one) && one.getAttribute("aria-keyshortcuts").split(" ").includes(key));

  // --- rows -------------------------------------------------------------------------------------------------------------
  const rows = () => [...document.querySelectorAll("tr[data-href]")].filter((row) => row.getClientRects().length > 0);
  const current = () => document.activeElement?.closest?.("tr[data-href]");
  const move = (step) => {
    const all = rows();
    if (all.length === 0) { return false; }
    const at = all.indexOf(current());
    const next = all[at < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + step, 0), all.length - 1)];
    next.querySelector("a[href]")?.focus();
    next.scrollIntoView({ block: "nearest" });
    return true;
  };
  const select = () => {
    const box = current()?.querySelector("input[type=checkbox]");
    box?.click();
    return Boolean(box);
  };

  // --- places -----------------------------------------------------------------------------------------------------------
  const go = (letter) => {
    const link = document.querySelector(`#keys [data-go="${letter}"]`);
    const own = { s: /^\/s\/[^/]+/, r: /^\/s\/[^/]+/ }[letter];
    const found = own?.exec(window.location.pathname)?.[0];
    if (letter === "s" && found) { window.location.assign(found); return true; }
    if (letter === "r" && found && document.querySelector(`nav.pages a[href^="${found}/redo"]`)) { window.location.assign(`${found}/redo`); return true; }
    if (link) { window.location.assign(link.href); }
    return Boolean(link);
  };

  let chord = 0;
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) { return; }
    const dialog = document.getElementById("keys");
    if (event.key === "?" && dialog) {
      if (dialog.open) { dialog.close(); } else if (!document.querySelector("dialog[open]")) { dialog.showModal(); }
      event.preventDefault();
      return;
    }
    if (document.querySelector("dialog[open]")) { return; }
    if (Date.now() < chord) {
      chord = 0;
      if (go(event.key)) { event.preventDefault(); }
      return;
    }
    if (event.key === "g") { chord = Date.now() + 1500; return; }
    if (event.key === "/") {
      const search = document.querySelector("input[type=search]");
      if (search) { search.focus(); event.preventDefault(); }
      return;
    }
    if ((event.key === "j" && move(1)) || (event.key === "k" && move(-1)) || (event.key === "x" && select())) { event.preventDefault(); return; }
    if (event.key.length !== 1) { return; }
    const one = bearer(event.key);
    if (one) {
      event.preventDefault();
      one.click();
      if (one.tagName === "SUMMARY") { one.parentElement.querySelector("input, a, button")?.focus(); }
    }
  });
})();
