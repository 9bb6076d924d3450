// What pages need before anybody touches a chart: refreshing parts while they are looked at, copying, rows that are links.
// Plotly is not in here; charts.js fetches it when a chart is first touched.
(() => {
  "use strict";

  // --- refreshing -----------------------------------------------------------------------------------------------------
  // An element with data-refresh (seconds) is asked for again by htmx, but only while the page is seen and nobody is
  // selecting text or a time, or typing. The server answers 304 where nothing changed. What waits meanwhile is said.
  let busyUntil = 0;
  const busy = () =>
    document.hidden || Date.now() < busyUntil || document.body.dataset.selecting ||
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
    showWaiting();
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
  // A part whose menu or table is open, and one that did not change, stay. A chart that is being explored keeps its
  // drawing; the words around it and the drawing below it are renewed.
  document.addEventListener("htmx:oobBeforeSwap", (event) => {
    const old = event.detail.target, fresh = event.detail.fragment?.firstElementChild;
    if (!old || !fresh) { return; }
    if (old.querySelector("[data-touched]")) {
      event.detail.shouldSwap = false;
      renew(old, fresh);
    } else if ((!old.matches("dialog:not([open])") && old.querySelector("details[open]")) || fresh.outerHTML === old.outerHTML) {
      event.detail.shouldSwap = false;
    }
  });
  const renew = (old, fresh) => {
    for (const part of ["figcaption", ".foot"]) {
      const place = old.querySelector(part), next = fresh.querySelector(part);
      if (place && next && !place.querySelector("details[open]")) { place.replaceWith(next); }
    }
    const drawing = old.querySelector("[data-drawing]"), next = fresh.querySelector("[data-drawing]");
    Object.assign(drawing.dataset, { from: next.dataset.from, to: next.dataset.to });
    for (const one of drawing.querySelectorAll(":scope > svg")) { one.remove(); }
    drawing.prepend(...next.querySelectorAll(":scope > svg"));
  };

  // --- what waits while the page stands still ---------------------------------------------------------------------------
  // Zoomed into the past, or paused because somebody selects or types: the number of samples that came since is shown,
  // with the way back to now.
  let asked = 0;
  const showWaiting = async () => {
    const place = document.querySelector("[data-resume]"), newest = document.querySelector("[data-newest]"), part = document.querySelector("[data-newest-at]");
    if (!place || !newest || !part || document.hidden || Date.now() < asked) { return; }
    const still = document.body.dataset.held || (part.dataset.refresh && busy());
    if (!still) { place.hidden = true; return; }
    asked = Date.now() + 1000 * Number(newest.dataset.every || 10);
    try {
      const answer = await fetch(`${part.dataset.newestAt}?since=${newest.dataset.newest}`, { credentials: "same-origin" });
      const count = answer.ok ? (await answer.json()).count : 0;
      place.textContent = place.closest("[data-waiting]").dataset.waiting.replace("%s", count);
      place.hidden = count === 0;
    } catch { /* the age of the newest sample says it already */ }
  };
  document.addEventListener("htmx:oobAfterSwap", (event) => { if (event.detail.target?.querySelector?.("[data-resume]")) { asked = 0; } });
  document.addEventListener("click", (event) => {
    const place = event.target.closest?.("[data-resume]");
    if (!place) { return; }
    place.hidden = true;
    window.getSelection()?.removeAllRanges();
    document.activeElement?.blur();
    busyUntil = 0;
    const home = document.querySelector("[data-reset]:not(.idle)");
    if (home) { home.click(); } else { window.htmx?.trigger("[data-newest-at]", "refresh"); }
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
    const link = event.target.closest?.("[data-copy-link]");
    if (link && navigator.clipboard && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      await navigator.clipboard.writeText(link.href);
      const words = link.textContent;
      link.textContent = document.body.dataset.copied; say(document.body.dataset.copied);
      window.setTimeout(() => { link.textContent = words; }, 1500);
      return;
    }
    const opener = event.target.closest?.("[data-open]");
    if (opener) {
      // An opener that is a link leads to the same as a page, for browsers without scripts and for another tab.
      const dialog = event.ctrlKey || event.metaKey || event.shiftKey ? null : document.getElementById(opener.dataset.open);
      if (dialog) { event.preventDefault(); dialog.showModal(); }
      return;
    }
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
  });
  // A menu closes when something else is touched, and by Escape, which gives the focus back.
  const closeMenus = (but) => { for (const one of document.querySelectorAll("details.menu[open]")) { if (one !== but) { one.open = false; } } };
  document.addEventListener("click", (event) => closeMenus(event.target.closest?.("details.menu")));
  document.addEventListener("keydown", (event) => {
    const menu = document.querySelector("details.menu[open]");
    if (event.key === "Escape" && menu) { closeMenus(null); menu.querySelector("summary").focus(); event.stopImmediatePropagation(); }
  }, true);

  // --- charts -----------------------------------------------------------------------------------------------------------
  // The first pointer over a chart loads its crosshair and selection; Plotly comes when it dwells there.
  let waking = null;
  const wake = () => {
    const source = document.querySelector("[data-explore]");
    if (!source) { return Promise.reject(new Error("no charts here")); }
    waking ??= new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = source.dataset.explore;
      script.nonce = document.querySelector("script[nonce]")?.nonce || "";
      script.addEventListener("load", () => resolve(window.tidemarkCharts));
      script.addEventListener("error", () => { waking = null; reject(new Error("charts.js could not be loaded")); });
      document.head.append(script);
    });
    return waking;
  };
  document.addEventListener("pointerover", (event) => {
    const drawing = event.target.closest?.("[data-drawing]");
    if (drawing && !waking && event.pointerType === "mouse" && window.innerWidth >= 480) { wake().then((charts) => charts.over(drawing), () => {}); }
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("[data-wake], [data-png]");
    if (!button) { return; }
    wake().then((charts) => (button.dataset.png ? charts.png(button.dataset.png) : charts.explore(button.closest("figure"))))
      .catch((error) => say(error.message));
  });
})();
