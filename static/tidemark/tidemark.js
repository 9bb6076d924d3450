// What pages need before anybody touches a chart: refreshing parts while they are looked at, copying, rows that are links.
// Plotly is not in here; charts.js fetches it when a chart is first touched.
(() => {
  "use strict";

  // --- refreshing -----------------------------------------------------------------------------------------------------
  // An element with data-refresh (seconds) is asked for again by htmx, but only while the page is seen and nobody is
  // selecting text, typing, or exploring a chart in it. The server answers 304 where nothing changed.
  let busyUntil = 0;
  const busy = () =>
    document.hidden || Date.now() < busyUntil || document.body.dataset.exploring ||
    /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName || "") ||
    (window.getSelection()?.toString() || "") !== "" || document.querySelector("dialog[open]") !== null;
  for (const name of ["pointerdown", "wheel", "keydown"]) {
    document.addEventListener(name, () => { busyUntil = Date.now() + 3000; }, { passive: true });
  }
  const due = new WeakMap();
  const tick = () => {
    for (const one of document.querySelectorAll("[data-refresh]")) {
      const next = due.get(one) ?? Date.now() + 1000 * one.dataset.refresh;
      if (Date.now() >= next && !busy() && window.htmx) {
        due.set(one, Date.now() + 1000 * one.dataset.refresh);
        window.htmx.trigger(one, "refresh");
      } else {
        due.set(one, next);
      }
    }
    for (const one of document.querySelectorAll("[data-newest]")) { showAge(one); }
  };
  window.setInterval(tick, 1000);
  document.addEventListener("DOMContentLoaded", tick);

  // Times are shown in the reader's zone from the second page on; a zone chosen in the account wins.
  try {
    const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
    if (zone && !document.cookie.includes(`tidemark_zone=${zone};`) && !document.cookie.endsWith(`tidemark_zone=${zone}`)) {
      document.cookie = `tidemark_zone=${zone}; path=/; max-age=31536000; samesite=lax`;
    }
  } catch { /* without it, times are UTC */ }

  document.addEventListener("htmx:configRequest", (event) => {
    const tag = event.detail.elt.dataset.etag;
    if (event.detail.elt.dataset.refresh && tag) { event.detail.headers["If-None-Match"] = tag; }
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    const { elt, xhr } = event.detail;
    if (elt.dataset?.refresh && xhr?.status === 200 && xhr.getResponseHeader("ETag")) { elt.dataset.etag = xhr.getResponseHeader("ETag"); }
  });
  // A chart that is being explored, and one whose table is open, are not replaced under the reader's eyes.
  document.addEventListener("htmx:oobBeforeSwap", (event) => {
    const old = event.detail.target, fresh = event.detail.fragment?.firstElementChild;
    if (old?.querySelector?.("[data-touched], details[open]") || (fresh && old && fresh.outerHTML === old.outerHTML)) {
      event.detail.shouldSwap = false;
    }
  });

  // --- the age of the newest sample ---------------------------------------------------------------------------------------
  const showAge = (one) => {
    const seconds = Math.max(0, Math.round(Date.now() / 1000 - Number(one.dataset.newest) + Number(one.dataset.skew || 0)));
    const every = Number(one.dataset.every || 10);
    const state = seconds > 12 * every ? "stale" : seconds > 3 * every ? "old" : "live";
    const form = seconds >= 120 ? [Math.round(seconds / 60), one.dataset.minutes] : [seconds, state === "live" ? one.dataset.seconds : one.dataset.old];
    const text = (form[1] || "%s").replace("%s", form[0]);
    if (one.textContent !== text) { one.textContent = text; }
    one.dataset.state = state;
  };

  // --- copying ----------------------------------------------------------------------------------------------------------
  const say = (words) => { const place = document.getElementById("spoken"); if (place) { place.textContent = words; } };
  document.addEventListener("click", async (event) => {
    const button = event.target.closest?.("[data-copy]");
    if (button) {
      const text = button.parentElement.querySelector("pre")?.textContent || "";
      try { await navigator.clipboard.writeText(text); } catch {
        // Without the clipboard's permission (plain HTTP on another machine) the text is at least selected.
        const range = document.createRange();
        range.selectNodeContents(button.parentElement.querySelector("pre"));
        const selection = window.getSelection();
        selection.removeAllRanges(); selection.addRange(range);
        return;
      }
      const before = button.textContent;
      button.textContent = document.body.dataset.copied; say(document.body.dataset.copied);
      window.setTimeout(() => { button.textContent = before; }, 1500);
      return;
    }
    const opener = event.target.closest?.("[data-open]");
    if (opener) { document.getElementById(opener.dataset.open)?.showModal(); return; }
    if (event.target.closest?.("[data-close]")) { event.target.closest("dialog")?.close(); return; }
    const tab = event.target.closest?.("[data-tab]");
    if (tab) { showTab(tab); return; }
    const row = event.target.closest?.("tr[data-href]");
    if (row && !event.target.closest("a, button, input, summary") && !window.getSelection()?.toString()) {
      window.location.assign(row.dataset.href);
    }
  });

  // --- tabs -------------------------------------------------------------------------------------------------------------
  const showTab = (tab) => {
    for (const one of tab.parentElement.querySelectorAll("[data-tab]")) {
      const mine = one === tab;
      one.setAttribute("aria-selected", String(mine));
      one.tabIndex = mine ? 0 : -1;
      const panel = document.getElementById(one.dataset.tab);
      if (panel) { panel.hidden = !mine; }
    }
  };
  document.addEventListener("keydown", (event) => {
    const tab = event.target.closest?.("[role=tab]");
    if (tab && (event.key === "ArrowRight" || event.key === "ArrowLeft")) {
      const all = [...tab.parentElement.querySelectorAll("[role=tab]")];
      const next = all[(all.indexOf(tab) + (event.key === "ArrowRight" ? 1 : all.length - 1)) % all.length];
      showTab(next); next.focus();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) { return; }
    if (event.key === "/") {
      const search = document.querySelector("input[type=search]");
      if (search) { search.focus(); event.preventDefault(); }
    }
  });

  // --- charts -----------------------------------------------------------------------------------------------------------
  // The first touch of a chart loads what is needed to explore it. A dwelling pointer counts, one that passes does not.
  let dwell = 0, waking = false;
  const wake = (figure) => {
    const source = document.querySelector("[data-explore]");
    if (!source || waking) { return; }
    waking = true;
    const script = document.createElement("script");
    script.src = source.dataset.explore;
    script.nonce = document.querySelector("script[nonce]")?.nonce || "";
    script.addEventListener("load", () => window.tidemarkCharts?.explore(figure));
    script.addEventListener("error", () => { waking = false; });
    document.head.append(script);
  };
  document.addEventListener("pointerover", (event) => {
    window.clearTimeout(dwell);
    const drawing = event.target.closest?.("[data-drawing]");
    if (drawing && event.pointerType === "mouse" && window.innerWidth >= 480) { dwell = window.setTimeout(() => wake(drawing.closest("figure")), 350); }
  });
  document.addEventListener("pointerdown", (event) => {
    const drawing = event.target.closest?.("[data-drawing]");
    if (drawing && event.pointerType !== "touch") { wake(drawing.closest("figure")); }
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("[data-wake]");
    if (button) { wake(button.closest("figure")); }
  });
})();
