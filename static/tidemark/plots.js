// Plotly over the server's drawings, with the same colours, margins and ticks, so that nothing moves when it takes over.
// What is dragged or hovered is charts.js's business; Plotly tells the values under the pointer.
(() => {
  "use strict";

  const places = new Map();
  let newest = null;

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
    const hour = Math.floor(ms / 3.6e6), key = `${zone} ${hour}`;
    if (!offsets.has(key)) {
      const parts = Object.fromEntries(new Intl.DateTimeFormat("en-GB", {
        timeZone: zone, year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric", hourCycle: "h23",
      }).formatToParts(hour * 3.6e6).map((part) => [part.type, Number(part.value)]));
      offsets.set(key, Date.UTC(parts.year, parts.month - 1, parts.day, parts.hour, parts.minute) - hour * 3.6e6);
    }
    return offsets.get(key);
  };
  // As text, since Plotly moves numbers and dates by the browser's own offset but takes texts as they are.
  const local = (ms, zone) => new Date(ms + offset(ms, zone)).toISOString().slice(0, -1);
  const clock = (values, zone) => values.map((ms) => (ms === null ? null : local(ms, zone)));

  const size = (value) => {
    const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let rank = 0;
    while (Math.abs(value) >= 1024 && rank < units.length - 1) { value /= 1024; rank += 1; }
    return `${value.toPrecision(3)} ${units[rank]}`;
  };
  const said = (chart, value) => {
    if (value === null) { return ""; }
    const share = chart.right ? ` · ${(100 * value / chart.right.whole).toFixed(1)} %` : "";
    return chart.base === 1024 ? size(value) + share : `${Number(value.toPrecision(4)).toLocaleString("en")} ${chart.unit.replace(/^1\//, "/")}`;
  };

  // The upper edge of each layer, not where the layer is nothing: it would paint the one below in a false colour.
  const outlines = (chart, zone, plain) => {
    const tops = [];
    return chart.traces.map((trace) => ({
      ...plain, x: clock(trace.x, zone), hoverinfo: "skip", line: { color: colour(trace.role), width: 1 },
      y: trace.y.map((value, i) => { if (value === null) { return null; } tops[i] = (tops[i] || 0) + value; return value > 0 ? tops[i] : null; }),
    }));
  };

  const traces = (chart, zone) => {
    const drawn = [];
    const plain = { mode: "lines", connectgaps: false };
    for (const trace of chart.past) {
      drawn.push({
        ...plain, x: clock(trace.x, zone), y: trace.y, name: trace.name, line: { color: colour("past"), width: 1.5, dash: "5px,3px" },
        text: trace.y.map((value) => said(chart, value)), hovertemplate: "%{text}",
      });
    }
    for (const area of chart.excess) {
      const x = clock(area.x, zone), edge = { ...plain, x, line: { width: 0 }, hoverinfo: "skip" };
      drawn.push({ ...edge, y: area.lower }, { ...edge, y: area.upper, fill: "tonexty", fillcolor: tint(colour(area.role), 0.3) });
    }
    for (const trace of chart.traces) {
      const line = colour(trace.role), x = clock(trace.x, zone);
      if (trace.low && !chart.stacked) {
        const edge = { ...plain, x, line: { width: 0 }, hoverinfo: "skip" };
        drawn.push({ ...edge, y: trace.low }, { ...edge, y: trace.high, fill: "tonexty", fillcolor: tint(line, 0.28) });
      }
      drawn.push({
        ...plain, x, y: trace.y, name: trace.name, line: { color: line, width: 1.5, dash: trace.dashed ? "5px,3px" : "solid" },
        text: trace.y.map((value) => said(chart, value)), hovertemplate: "%{text}",
        ...(chart.stacked ? { stackgroup: "one", fillcolor: tint(line, 0.3), line: { color: line, width: 0 } } : trace.filled ? { fill: "tozeroy", fillcolor: tint(line, 0.12) } : {}),
      });
    }
    for (const trace of chart.second?.traces || []) {
      drawn.push({
        ...plain, x: clock(trace.x, zone), y: trace.y.map((value) => (value === null ? null : value * chart.second.factor)), name: trace.name,
        line: { color: colour(trace.role), width: 1.5, dash: trace.dashed ? "5px,3px" : "solid" },
        text: trace.y.map((value) => (value === null ? "" : `${Number(value.toPrecision(4)).toLocaleString("en")} ${chart.second.unit}`)), hovertemplate: "%{text}",
      });
    }
    if (chart.stacked) { drawn.push(...outlines(chart, zone, plain)); }
    const dashes = { long: "8px,4px", solid: "solid", dotted: "2px,3px", fine: "4px,4px" };
    for (const limit of chart.limits) {
      if (!limit.y.some((value) => value !== null && value <= chart.top)) { continue; }
      drawn.push({
        ...plain, x: clock(limit.x, zone), y: limit.y, name: limit.name,
        line: { color: colour(limit.role), width: limit.style === "fine" ? 1 : 1.5, dash: dashes[limit.style], shape: "hv" },
        text: limit.y.map((value) => said(chart, value)), hovertemplate: "%{text}",
      });
    }
    return drawn;
  };

  // Names of the limits where the server's drawing has them: at the left ends of their lines.
  const names = (chart) => chart.labels.map((label) => ({
    xref: "paper", yref: "paper", x: 0, y: 1, xanchor: "left", yanchor: "bottom", xshift: label.x - 1, yshift: -label.y - 3,
    text: label.text, showarrow: false, font: { size: 11, color: colour(label.role === "async" ? "async-text" : label.role) },
    bgcolor: tint(colour("ground"), 0.7), borderpad: 0,
  }));

  // Their letters are the lane's, which stands above both drawings; here are the rules below them.
  const shapes = (chart, zone) => [
    ...chart.gaps.map(([from, to]) => ({
      type: "rect", xref: "x", yref: "paper", x0: local(Math.max(from, chart.from), zone), x1: local(Math.min(to, chart.to), zone), y0: 0, y1: 1,
      line: { width: 0 }, fillcolor: tint(colour("past"), 0.13), layer: "below",
    })),
    ...chart.happenings.map((one) => ({
      type: "line", xref: "x", yref: "paper", x0: local(one.at, zone), x1: local(one.at, zone), y0: 0, y1: 1,
      line: { color: colour("past"), width: 1, dash: "3px,3px" },
    })),
  ];

  const layout = (chart, zone) => {
    const quiet = colour("quiet"), hair = colour("hairline"), ground = colour("ground");
    const axis = { fixedrange: true, zeroline: false, tickfont: { color: quiet } };
    return {
      margin: { l: 54, r: chart.right || chart.second ? 46 : 8, t: 14, b: 22 }, showlegend: false, hovermode: "x unified", dragmode: false, autosize: true,
      annotations: [...names(chart), ...(chart.second?.marks || chart.right?.marks || []).filter(([value]) => value <= chart.top).map(([value, text]) => ({
        xref: "paper", x: 1, xanchor: "left", xshift: 3, yref: "y", y: value, text, showarrow: false, font: { size: 11, color: quiet },
      }))],
      shapes: shapes(chart, zone), paper_bgcolor: ground, plot_bgcolor: ground, font: { family: "inherit", size: 11, color: quiet },
      hoverlabel: { bgcolor: ground, bordercolor: hair, font: { color: colour("text"), size: 12 } },
      xaxis: { ...axis, type: "date", range: [local(chart.from, zone), local(chart.to, zone)], gridcolor: hair, showgrid: false, linecolor: hair,
        tickvals: chart.times.map((tick) => local(tick[0], zone)), ticktext: chart.times.map((tick) => tick[1]), hoverformat: "%Y-%m-%d %H:%M:%S", showspikes: false },
      yaxis: { ...axis, range: [0, chart.top * 1.0001], gridcolor: hair, tickvals: chart.ticks.map((tick) => tick[0]), ticktext: chart.ticks.map((tick) => tick[1]) },
    };
  };

  const drawOne = async (chart, zone) => {
    const drawing = document.querySelector(`#chart-${chart.id} [data-drawing]`);
    if (!drawing) { return; }
    let place = places.get(chart.id);
    if (!place?.isConnected) {
      place = document.createElement("div");
      place.className = "touched";
      drawing.append(place);
      places.set(chart.id, place);
    }
    Object.assign(drawing.dataset, { from: String(Math.round(chart.from)), to: String(Math.round(chart.to)) });
    await window.Plotly.react(place, traces(chart, zone), layout(chart, zone), { displayModeBar: false, responsive: true, doubleClick: false, showTips: false });
    drawing.dataset.touched = "yes";
  };

  // The touched chart first: its reader waits.
  const draw = async (data, first = "") => {
    newest = data;
    for (const chart of [...data.charts].sort((a, b) => (b.id === first) - (a.id === first))) {
      if (newest !== data) { return; }
      await drawOne(chart, data.zone);
    }
  };
  const clear = () => {
    newest = null;
    for (const place of places.values()) {
      place.closest("[data-drawing]")?.removeAttribute("data-touched");
      window.Plotly.purge(place);
      place.remove();
    }
    places.clear();
  };

  // The index of the newest point at or before a time; -1 where there is none, or a gap follows it.
  const before = (times, ms) => {
    let low = 0, high = times.length - 1, found = -1;
    while (low <= high) {
      const half = (low + high) >> 1;
      let middle = half;
      while (middle > low && times[middle] === null) { middle -= 1; }
      if (times[middle] === null) { low = half + 1; } else if (times[middle] > ms) { high = middle - 1; } else { found = middle; low = half + 1; }
    }
    return times[found + 1] === null ? -1 : found;
  };
  // What a chart is at a time, short enough for a small one: its first two lines, or all of a stack together.
  const told = (id, ms) => {
    const chart = newest?.charts.find((one) => one.id === id);
    if (!chart) { return ""; }
    const values = chart.traces.map((trace) => trace.y[before(trace.x, ms)]).filter((value) => typeof value === "number");
    const shown = chart.stacked ? [values.reduce((sum, value) => sum + value, 0)] : values.slice(0, 2);
    if (values.length === 0) { return ""; }
    if (chart.base === 1024) { return shown.map((value) => said(chart, value)).join(" / "); }
    return `${shown.map((value) => Number(value.toPrecision(3)).toLocaleString("en")).join(" / ")} ${chart.unit.replace(/^1\//, "/")}`;
  };

  window.tidemarkPlots = { told, draw, clear, redraw: () => (newest ? draw(newest) : undefined) };
})();
