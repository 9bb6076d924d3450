// Exploring charts: fetched on the first touch, never before. Plotly is drawn over the server's drawing, with the same colours,
// margins and ticks, so that nothing moves. Zooming one chart zooms all of them and asks the server for finer points.
(() => {
  "use strict";

  const page = () => document.querySelector("[data-charts]");
  const state = { plots: new Map(), zoom: null, timer: 0 };

  const load = (address) => new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = address;
    script.nonce = document.querySelector("script[nonce]")?.nonce || "";
    script.addEventListener("load", resolve);
    script.addEventListener("error", () => reject(new Error("Plotly could not be loaded")));
    document.head.append(script);
  });

  // A custom property may hold light-dark(): only a computed colour is one that Plotly knows.
  const probe = document.createElement("i");
  probe.hidden = true;
  const colour = (name) => {
    document.body.append(probe);
    probe.style.color = `var(--${name})`;
    const found = window.getComputedStyle(probe).color;
    probe.remove();
    return found;
  };
  const tint = (rgb, share) => rgb.replace(/^rgba?\(([^,]+),([^,]+),([^,)]+).*$/, `rgba($1,$2,$3,${share})`);

  // Plotly prints dates as UTC; times are moved by the reader's offset so that both drawings have the same clock.
  const offsets = new Map();
  const offset = (ms, zone) => {
    const hour = Math.floor(ms / 3.6e6);
    if (!offsets.has(hour)) {
      const parts = Object.fromEntries(new Intl.DateTimeFormat("en-GB", {
        timeZone: zone, year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric", hourCycle: "h23",
      }).formatToParts(hour * 3.6e6).map((part) => [part.type, Number(part.value)]));
      offsets.set(hour, Date.UTC(parts.year, parts.month - 1, parts.day, parts.hour, parts.minute) - hour * 3.6e6);
    }
    return offsets.get(hour);
  };
  // As text, since Plotly moves numbers and dates by the browser's own offset but takes texts as they are.
  const local = (ms, zone) => new Date(ms + offset(ms, zone)).toISOString().slice(0, -1);
  const clock = (values, zone) => values.map((ms) => (ms === null ? null : local(ms, zone)));

  const size = (value) => {
    const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let rank = 0;
    while (Math.abs(value) >= 1024 && rank < units.length - 1) { value /= 1024; rank += 1; }
    return `${value.toPrecision(Math.abs(value) >= 100 ? 3 : 3)} ${units[rank]}`;
  };
  const said = (chart, value) => (value === null ? "" : chart.base === 1024 ? size(value) : Number(value.toPrecision(4)).toLocaleString("en"));

  const traces = (chart, zone) => {
    const drawn = [];
    for (const trace of chart.traces) {
      const line = colour(trace.role), x = clock(trace.x, zone);
      if (trace.low && !chart.stacked) {
        const edge = { x, mode: "lines", line: { width: 0 }, hoverinfo: "skip", showlegend: false, connectgaps: false };
        drawn.push({ ...edge, y: trace.low }, { ...edge, y: trace.high, fill: "tonexty", fillcolor: tint(line, 0.28) });
      }
      drawn.push({
        x, y: trace.y, name: trace.name, mode: "lines", connectgaps: false,
        line: { color: line, width: 1.5, dash: trace.dashed ? "5px,3px" : "solid" },
        text: trace.y.map((value) => said(chart, value)), hovertemplate: "%{text}",
        ...(chart.stacked ? { stackgroup: "one", fillcolor: tint(line, 0.3) } : trace.filled ? { fill: "tozeroy", fillcolor: tint(line, 0.12) } : {}),
      });
    }
    const dashes = { long: "8px,4px", solid: "solid", dotted: "2px,3px", fine: "4px,4px" };
    for (const limit of chart.limits) {
      if (!limit.y.some((value) => value !== null && value <= chart.top)) { continue; }
      drawn.push({
        x: clock(limit.x, zone), y: limit.y, name: limit.name, mode: "lines", connectgaps: false,
        line: { color: colour(limit.role), width: limit.style === "fine" ? 1 : 1.5, dash: dashes[limit.style], shape: "hv" },
        text: limit.y.map((value) => said(chart, value)), hovertemplate: "%{text}",
      });
    }
    return drawn;
  };

  // Names of the limits at the left ends of their lines, those of the acting points in a second column, as in the server's drawing.
  const names = (chart) => {
    const found = chart.limits.map((limit) => {
      const known = limit.y.filter((value) => value !== null);
      return { ...limit, first: known[0], last: known[known.length - 1] };
    }).filter((limit) => limit.first !== undefined && limit.first <= chart.top).sort((a, b) => b.first - a.first);
    const height = chart.id === "checkpoint-age" ? 190 : 124, free = { true: -20, false: -20 };
    return found.map((limit) => {
      const fine = limit.style === "fine", wanted = height * (1 - limit.first / chart.top) - 8, place = Math.max(wanted, free[fine] + 13);
      free[fine] = place;
      return {
        xref: "paper", x: 0, xanchor: "left", xshift: fine ? 148 : 4, yref: "y", y: limit.first, yshift: wanted - place + 8,
        text: `${limit.name} ${said(chart, limit.last)}`, showarrow: false, font: { size: 11, color: colour(limit.role === "async" ? "async-text" : limit.role) },
        bgcolor: tint(colour("ground"), 0.7), borderpad: 0,
      };
    });
  };

  const layout = (chart, zone) => {
    const quiet = colour("quiet"), hair = colour("hairline"), ground = colour("ground");
    const range = [local(chart.from, zone), local(chart.to, zone)];
    return {
      margin: { l: 54, r: 8, t: 14, b: 22 }, showlegend: false, hovermode: "x unified", dragmode: "zoom",
      annotations: names(chart), paper_bgcolor: ground, plot_bgcolor: ground, autosize: true,
      font: { family: "inherit", size: 11, color: quiet },
      hoverlabel: { bgcolor: ground, bordercolor: hair, font: { color: colour("text"), size: 12 } },
      xaxis: { type: "date", range, gridcolor: hair, showgrid: false, zeroline: false, linecolor: hair, tickfont: { color: quiet }, fixedrange: false, nticks: 7,
        tickformatstops: [{ dtickrange: [null, 59999], value: "%H:%M:%S" }, { dtickrange: [60000, 86399999], value: "%H:%M" }, { dtickrange: [86400000, null], value: "%m-%d" }],
        hoverformat: "%Y-%m-%d %H:%M:%S" },
      yaxis: {
        range: [0, chart.top * 1.0001], fixedrange: true, gridcolor: hair, zeroline: false,
        tickvals: chart.ticks.map((tick) => tick[0]), ticktext: chart.ticks.map((tick) => tick[1]), tickfont: { color: quiet },
      },
    };
  };

  const fetchCharts = async () => {
    const address = new URL(page().dataset.charts, window.location.href);
    if (state.zoom) {
      address.search = new URLSearchParams({ from: String(Math.round(state.zoom[0])), to: String(Math.round(state.zoom[1])) });
    }
    const answer = await fetch(address, { credentials: "same-origin", headers: { Accept: "application/json" } });
    if (!answer.ok) { throw new Error(`the charts' data came with status ${answer.status}`); }
    return answer.json();
  };

  const draw = async (figure, chart, zone) => {
    const drawing = figure.querySelector("[data-drawing]");
    let place = drawing.querySelector(".touched");
    if (!place) {
      place = document.createElement("div");
      place.className = "touched";
      drawing.append(place);
    }
    await window.Plotly.react(place, traces(chart, zone), layout(chart, zone), { displayModeBar: false, responsive: true, doubleClick: false, showTips: false });
    drawing.dataset.touched = "yes";
    if (!state.plots.has(figure.id)) {
      state.plots.set(figure.id, place);
      place.on("plotly_relayout", (change) => {
        const from = change["xaxis.range[0]"], to = change["xaxis.range[1]"];
        if (from === undefined || to === undefined) { return; }
        const begin = Date.parse(`${String(from).replace(" ", "T")}Z`), end = Date.parse(`${String(to).replace(" ", "T")}Z`);
        const ends = [begin - offset(begin, zone), end - offset(end, zone)];
        if (ends[1] - ends[0] < 60000) { const middle = (ends[0] + ends[1]) / 2; ends[0] = middle - 30000; ends[1] = middle + 30000; }
        zoomTo(ends);
      });
      place.on("plotly_doubleclick", () => zoomTo(null));
    }
  };

  const redraw = async (first) => {
    const data = await fetchCharts();
    const order = [...data.charts].sort((a, b) => (b.id === first) - (a.id === first));
    for (const chart of order) {
      const figure = document.getElementById(`chart-${chart.id}`);
      if (figure) { await draw(figure, chart, data.zone); }
    }
  };

  const zoomTo = async (ends) => {
    state.zoom = ends;
    const address = new URL(window.location.href);
    for (const name of ["range", "from", "to"]) { address.searchParams.delete(name); }
    if (ends) { address.searchParams.set("from", Math.round(ends[0])); address.searchParams.set("to", Math.round(ends[1])); } else {
      const known = new URL(page().dataset.charts, window.location.href).searchParams;
      for (const [name, value] of known) { address.searchParams.set(name, value); }
    }
    window.history.replaceState(null, "", address);
    await redraw("");
  };

  const leave = () => {
    window.clearInterval(state.timer);
    for (const place of state.plots.values()) {
      place.closest("[data-drawing]")?.removeAttribute("data-touched");
      window.Plotly.purge(place);
      place.remove();
    }
    state.plots.clear();
    delete document.body.dataset.exploring;
    if (state.zoom) { state.zoom = null; window.location.reload(); }
  };

  const explore = async (figure) => {
    if (!page() || document.body.dataset.exploring) { return; }
    document.body.dataset.exploring = "yes";
    const drawing = figure.querySelector("[data-drawing]");
    drawing.dataset.waking = "yes";
    try {
      if (!window.Plotly) { await load(page().dataset.plotly); }
      await redraw(figure.dataset.chart);
      // New samples arrive while somebody looks, unless a range of the past is being looked at.
      state.timer = window.setInterval(() => {
        if (!document.hidden && !state.zoom && page().dataset.refresh) { redraw("").catch(() => {}); }
      }, 1000 * Number(page().dataset.refresh || 10));
    } catch (error) {
      delete document.body.dataset.exploring;
      const spoken = document.getElementById("spoken");
      if (spoken) { spoken.textContent = error.message; }
    } finally {
      delete drawing.dataset.waking;
    }
  };

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && document.body.dataset.exploring) { leave(); }
  });
  // Once this file is here, the buttons work without the loader.
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("[data-wake]");
    if (button) { explore(button.closest("figure")); }
  });
  document.addEventListener("pointerdown", (event) => {
    const drawing = event.target.closest?.("[data-drawing]");
    if (drawing && !document.body.dataset.exploring && event.pointerType === "mouse") { explore(drawing.closest("figure")); }
  });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    if (document.body.dataset.exploring) { redraw("").catch(() => {}); }
  });

  window.tidemarkCharts = { explore, leave };
})();
