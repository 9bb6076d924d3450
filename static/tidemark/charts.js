// Exploring charts, over the server's drawing as over Plotly's: one crosshair over all of them, a time that is dragged
// zooms all of them, and every range stands in the address, so that "back" leads to the one before. Plotly itself is
// in plots.js and comes when a pointer dwells.
(() => {
  "use strict";

  const page = () => document.querySelector("[data-charts]");
  const drawings = () => [...document.querySelectorAll("[data-drawing]")];
  const zone = () => document.querySelector("[data-zone]")?.dataset.zone || "UTC";
  const say = (words) => { const place = document.getElementById("spoken"); if (place) { place.textContent = words; } };
  const state = { plots: null, loading: null, home: window.location.search, every: "", tag: "", drag: null, dwell: 0, turn: 0, showing: false };

  const load = (address) => new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = address;
    script.nonce = document.querySelector("script[nonce]")?.nonce || "";
    script.addEventListener("load", resolve);
    script.addEventListener("error", () => reject(new Error("Plotly could not be loaded")));
    document.head.append(script);
  });

  // --- where a pointer is in time ---------------------------------------------------------------------------------------
  const ends = (drawing) => [Number(drawing.dataset.from), Number(drawing.dataset.to)];
  const plot = (drawing) => drawing.querySelector("svg.chart > .ground").getBoundingClientRect();
  const timeAt = (drawing, x) => {
    const place = plot(drawing), [from, to] = ends(drawing);
    return from + Math.min(Math.max((x - place.left) / place.width, 0), 1) * (to - from);
  };
  const inside = (drawing, event) => {
    const place = plot(drawing);
    return event.clientX >= place.left - 1 && event.clientX <= place.right + 1 && event.clientY >= place.top - 14 && event.clientY <= place.bottom + 22;
  };
  const clock = (ms) => new Intl.DateTimeFormat("en-CA", {
    timeZone: zone(), ...(Date.now() - ms > 7.2e7 ? { month: "2-digit", day: "2-digit" } : {}),
    hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23",
  }).format(ms).replace(",", "");

  // A rule or an area over every chart at the same time.
  const over = (name, from, to, words) => {
    for (const drawing of drawings()) {
      let mark = drawing.querySelector(`:scope > .${name}`);
      if (!mark) { mark = document.createElement("div"); mark.className = name; mark.append(document.createElement("span")); drawing.append(mark); }
      const place = plot(drawing), box = drawing.getBoundingClientRect(), [begin, end] = ends(drawing), scale = place.width / (end - begin);
      mark.style.top = `${place.top - box.top}px`;
      mark.style.height = `${place.height}px`;
      mark.style.left = `${place.left - box.left + (Math.max(from, begin) - begin) * scale}px`;
      if (to !== null) { mark.style.width = `${(Math.min(to, end) - Math.max(from, begin)) * scale}px`; }
      mark.firstChild.textContent = typeof words === "function" ? words(drawing) : words;
      const share = (Math.max(from, begin) - begin) / (end - begin);
      mark.dataset.side = share < 0.25 ? "right" : share > 0.75 ? "left" : "both";
      mark.hidden = false;
    }
  };
  const away = (name) => { for (const mark of document.querySelectorAll(`.drawing > .${name}`)) { mark.hidden = true; } };

  // --- the range --------------------------------------------------------------------------------------------------------
  // One request for the data of all charts; the words, the tables and the drawings below come with the page's own refresh.
  const show = async (query) => {
    const part = page(), address = new URL(part.dataset.charts, window.location.href);
    address.search = query;
    // Whoever asked last is drawn: an answer for a range that was left meanwhile is dropped.
    const turn = state.turn += 1;
    state.showing = true;
    const answer = await fetch(address, { credentials: "same-origin", cache: "no-store", headers: { Accept: "application/json" } });
    if (!answer.ok) { throw new Error(`the charts' data came with status ${answer.status}`); }
    const data = await answer.json();
    if (state.turn !== turn || !state.plots) { return; }
    state.showing = false;
    state.tag = answer.headers.get("ETag") || "";
    state.every = state.every || part.dataset.refresh || document.querySelector("[data-newest]")?.dataset.every || "10";
    part.dataset.charts = `${address.pathname}?${data.query}`;
    if (data.moves) { part.dataset.refresh = state.every; delete document.body.dataset.held; } else { delete part.dataset.refresh; document.body.dataset.held = "yes"; }
    delete part.dataset.etag;
    part.setAttribute("hx-get", window.location.pathname + query);
    window.htmx?.process(part);
    window.htmx?.trigger(part, "refresh");
    away("cross");
    await state.plots.draw(data);
  };
  const go = async (query) => {
    const address = new URL(window.location.href);
    address.search = query;
    address.hash = "";
    try { await wakePlots(); } catch { window.location.assign(address); return; }
    if (address.search === window.location.search) { return; }
    window.history.pushState(null, "", address);
    try { await show(address.search); } catch { window.location.reload(); }
  };
  window.addEventListener("popstate", () => {
    if (!state.plots) { window.location.reload(); return; }
    show(window.location.search).catch(() => window.location.reload());
  });
  const zoom = (from, to) => {
    if (to - from < 60000) { const middle = (from + to) / 2; from = middle - 30000; to = middle + 30000; }
    const query = new URLSearchParams(window.location.search);
    query.delete("range");
    query.set("from", Math.round(from));
    query.set("to", Math.round(to));
    return go(`?${query}`);
  };
  // Links of the range control stay in the page once Plotly is here; before, they are ordinary links.
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("[data-range] a");
    if (!link || !state.plots || link.dataset.copyLink !== undefined || event.ctrlKey || event.metaKey || event.shiftKey) { return; }
    const wanted = new URL(link.href);
    if (link.dataset.reset !== undefined && !new URLSearchParams(state.home).get("from")) { wanted.search = state.home; }
    // Another clock changes every label of the page.
    if (wanted.searchParams.get("tz") !== new URLSearchParams(window.location.search).get("tz")) { return; }
    event.preventDefault();
    link.closest("details")?.removeAttribute("open");
    go(wanted.search);
  });

  // --- Plotly -----------------------------------------------------------------------------------------------------------
  const wakePlots = () => {
    state.loading ??= (async () => {
      document.body.dataset.exploring = "yes";
      if (!window.Plotly) { await load(page().dataset.plotly); }
      if (!window.tidemarkPlots) { await load(page().dataset.plots); }
      state.plots = window.tidemarkPlots;
    })();
    state.loading.catch(() => { state.loading = null; delete document.body.dataset.exploring; });
    return state.loading;
  };
  const explore = async (figure) => {
    if (!page() || state.plots) { return; }
    const drawing = figure.querySelector("[data-drawing]");
    const turn = state.turn;
    if (drawing) { drawing.dataset.waking = "yes"; }
    try {
      await wakePlots();
      const answer = await fetch(page().dataset.charts, { credentials: "same-origin", cache: "no-store" });
      if (!answer.ok) { throw new Error(`the charts' data came with status ${answer.status}`); }
      const data = await answer.json();
      if (state.turn !== turn) { return; }
      state.tag = answer.headers.get("ETag") || "";
      if (state.plots) { await state.plots.draw(data, figure.dataset.chart); }
    } catch (error) { say(error.message); } finally { if (drawing) { delete drawing.dataset.waking; } }
  };
  const leave = () => {
    state.plots?.clear();
    state.plots = null;
    state.loading = null;
    delete document.body.dataset.exploring;
  };
  // New samples are appended after each refresh of the page, which comes only while the range ends now.
  document.addEventListener("htmx:afterRequest", async (event) => {
    const part = page();
    if (event.detail.elt !== part || !part.dataset.refresh || !state.plots || state.showing || event.detail.xhr?.status !== 200) { return; }
    const turn = state.turn;
    try {
      const answer = await fetch(part.dataset.charts, { credentials: "same-origin", cache: "no-store", headers: { "If-None-Match": state.tag } });
      if (answer.status !== 200) { return; }
      const data = await answer.json();
      if (!state.plots || state.turn !== turn) { return; }
      state.tag = answer.headers.get("ETag") || "";
      await state.plots.draw(data);
    } catch { /* the next one will do */ }
  });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => state.plots?.redraw());

  // --- pointer ----------------------------------------------------------------------------------------------------------
  const begin = (drawing) => {
    window.clearTimeout(state.dwell);
    if (!state.plots) { state.dwell = window.setTimeout(() => explore(drawing.closest("figure")), 350); }
  };
  document.addEventListener("pointerover", (event) => {
    const drawing = event.target.closest?.("[data-drawing]");
    window.clearTimeout(state.dwell);
    if (drawing && event.pointerType === "mouse" && window.innerWidth >= 480) { begin(drawing); }
  });
  document.addEventListener("pointermove", (event) => {
    if (state.drag) {
      const now = timeAt(state.drag.drawing, event.clientX), [from, to] = [state.drag.at, now].sort((a, b) => a - b);
      state.drag.moved ||= Math.abs(event.clientX - state.drag.x) > 4;
      if (state.drag.moved) { over("selection", from, to, ""); }
    }
    const drawing = event.target.closest?.("[data-drawing]") || state.drag?.drawing;
    if (!drawing || event.pointerType === "touch" || (!state.drag && !inside(drawing, event))) { away("cross"); return; }
    const at = timeAt(drawing, event.clientX), time = clock(at);
    // The chart under the pointer has Plotly's own list of values, the others say theirs beside the time.
    over("cross", at, null, (one) => {
      const told = one === drawing ? "" : state.plots?.told(one.closest("figure").dataset.chart, at);
      return told ? `${time} · ${told}` : time;
    });
  }, { passive: true });
  document.addEventListener("pointerdown", (event) => {
    const drawing = event.target.closest?.("[data-drawing]");
    if (!drawing || event.pointerType === "touch" || event.button !== 0 || event.target.closest("a") || !inside(drawing, event)) { return; }
    state.drag = { drawing, at: timeAt(drawing, event.clientX), x: event.clientX, moved: false };
    document.body.dataset.selecting = "yes";
  });
  const drop = () => { state.drag = null; delete document.body.dataset.selecting; away("selection"); };
  document.addEventListener("pointerup", (event) => {
    const drag = state.drag;
    drop();
    if (!drag?.moved) { return; }
    window.getSelection()?.removeAllRanges();
    const now = timeAt(drag.drawing, event.clientX);
    zoom(Math.min(drag.at, now), Math.max(drag.at, now));
  });
  // Dragging over a drawing must not select its labels, and Plotly must not take the drag.
  document.addEventListener("mousedown", (event) => {
    if (event.button === 0 && event.target.closest?.("[data-drawing]") && !event.target.closest("a")) { event.preventDefault(); }
  }, true);
  document.addEventListener("dblclick", (event) => {
    if (event.target.closest?.("[data-drawing]")) { document.getElementById("range-wider")?.click(); }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") { return; }
    if (state.drag) { drop(); } else if (state.plots) { leave(); }
  });

  // --- PNG --------------------------------------------------------------------------------------------------------------
  // The file's SVG, drawn at twice its size: the server has no painter of its own.
  const png = async (address) => {
    const answer = await fetch(address, { credentials: "same-origin" });
    if (!answer.ok) { throw new Error(`the drawing came with status ${answer.status}`); }
    const name = (answer.headers.get("Content-Disposition") || "").match(/filename="([^"]+)\.svg"/)?.[1] || "chart";
    const source = URL.createObjectURL(await answer.blob());
    try {
      const image = new Image();
      image.src = source;
      await image.decode();
      const canvas = document.createElement("canvas");
      canvas.width = image.naturalWidth * 2; canvas.height = image.naturalHeight * 2;
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      const made = URL.createObjectURL(await new Promise((resolve) => { canvas.toBlob(resolve, "image/png"); }));
      const link = document.createElement("a");
      link.href = made; link.download = `${name}.png`;
      link.click();
      window.setTimeout(() => URL.revokeObjectURL(made), 10_000);
    } finally { URL.revokeObjectURL(source); }
  };

  window.tidemarkCharts = { explore, leave, over: begin, png, go };
})();
