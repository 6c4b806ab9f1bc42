"use strict";
// The charts: waterfall, memory over the schedule, modules. Colours come from the style sheet, so
// that they follow the theme; names only ever reach the page as text.
const charts = (() => {
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  const literal = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const narrow = () => window.innerWidth < 700;
  const ROOM = 0.13; // of the bars' extent, on both sides, for the amounts beside them
  const SLIVER = 0.001; // of the whole: a module smaller than that is less than a pixel high
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  const config = {
    displaylogo: false, responsive: true, showSendToCloud: false,
    modeBarButtonsToRemove: ["sendDataToCloud", "lasso2d", "select2d", "autoScale2d"],
  };

  function unitOf(extent) {
    let power = 0;
    while (power + 1 < units.length && Math.abs(extent) >= 1024 ** (power + 1)) power += 1;
    return { size: 1024 ** power, name: units[power] };
  }

  function layout(extra) {
    const axis = { gridcolor: colour("line"), linecolor: colour("line"), zerolinecolor: colour("quiet"), automargin: true };
    return {
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { color: colour("ink"), size: 12, family: "system-ui, sans-serif" },
      margin: { l: 10, r: 20, t: 10, b: 40 },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("quiet"), activecolor: colour("ink") },
      uniformtext: { minsize: 8, mode: "hide" },
      hoverlabel: { bgcolor: colour("panel"), bordercolor: colour("line"), font: { color: colour("ink") }, align: "left" },
      ...extra,
      xaxis: { ...axis, ...(extra.xaxis || {}) },
      yaxis: { ...axis, ...(extra.yaxis || {}) },
    };
  }

  function waterfall(data) {
    const shorten = (text) => (narrow() && text.length > 22 ? text.slice(0, 21) + "…" : text);
    const names = ["lhs  " + data.lhsText, ...data.steps.map((step) => shorten(step.label)), "rhs  " + data.rhsText];
    let reached = 0, lowest = 0, highest = 0;
    for (const step of data.steps) { reached += step.bytes; lowest = Math.min(lowest, reached); highest = Math.max(highest, reached); }
    const unit = unitOf(highest - lowest), pad = ROOM * (highest - lowest || 1) / unit.size;
    const range = [lowest / unit.size - pad, highest / unit.size + pad];
    const trace = {
      type: "waterfall", orientation: "h",
      measure: ["absolute", ...data.steps.map(() => "relative"), "total"],
      y: names.map((_, number) => number),
      x: [0, ...data.steps.map((step) => step.bytes / unit.size), 0],
      text: ["", ...data.steps.map((step) => step.amount), data.gapText],
      textposition: "outside", cliponaxis: false,
      hovertext: [
        "lhs: " + data.lhsText,
        ...data.steps.map((step) => literal(step.amount) + "<br>" + literal(step.text) + (step.place ? "<br>" + literal(step.place) : "")),
        "rhs: " + data.rhsText + " (" + data.gapText + ")",
      ],
      hoverinfo: "text",
      increasing: { marker: { color: colour("more-fill") } },
      decreasing: { marker: { color: colour("less-fill") } },
      totals: { marker: { color: colour("rhs") } },
      connector: { line: { color: colour("line"), width: 1 } },
    };
    return [[trace], layout({
      height: 90 + 26 * names.length, showlegend: false, dragmode: false,
      margin: { l: 10, r: 20, t: 30, b: 40 },
      xaxis: { range, title: { text: (narrow() ? "" : "device memory at peak, ") + unit.name + " more than lhs" }, zeroline: true },
      yaxis: { autorange: "reversed", tickvals: names.map((_, number) => number), ticktext: names.map(literal), fixedrange: true },
    })];
  }

  function timeline(data) {
    const highest = Math.max(1, ...data.sides.flatMap((side) => side.bytes));
    const unit = unitOf(highest);
    const traces = data.sides.map((side, number) => ({
      type: "scatter", mode: "lines", name: number ? "rhs" : "lhs",
      x: side.share, y: side.bytes.map((size) => size / unit.size),
      line: { shape: "hv", color: colour(number ? "rhs" : "lhs"), width: number ? 1.4 : 2.4 },
      text: side.at.map((name, place) => side.text[place] + (name ? " at " + literal(name) : "")),
      hovertemplate: "%{text}<extra>" + (number ? "rhs" : "lhs") + "</extra>",
    }));
    data.sides.forEach((side, number) => {
      const size = Math.max(...side.bytes), place = side.bytes.indexOf(size);
      traces.push({
        type: "scatter", mode: "markers", x: [side.share[place]], y: [size / unit.size],
        marker: { symbol: number ? "diamond" : "circle", size: 9, color: colour(number ? "rhs" : "lhs") },
        name: (number ? "rhs" : "lhs") + " peak " + side.text[place], hoverinfo: "skip",
      });
    });
    const near = data.capacity !== null && data.capacity <= highest * 1.5;
    return [traces, layout({
      height: 380, hovermode: "x", dragmode: "zoom",
      legend: { orientation: "h", y: narrow() ? -0.2 : 1.12 }, margin: { l: 10, r: 20, t: 40, b: 40 },
      shapes: near ? [{ type: "line", x0: 0, x1: 1, xref: "paper", y0: data.capacity / unit.size, y1: data.capacity / unit.size, line: { color: colour("quiet"), dash: "dash" } }] : [],
      annotations: near ? [{ xref: "paper", x: 0, xanchor: "left", y: data.capacity / unit.size, yanchor: "bottom", showarrow: false, text: "the device has " + data.capacityText }] : [],
      xaxis: { title: { text: "share of the schedule, %" }, range: [0, 100] },
      yaxis: { title: { text: "live, " + unit.name } },
    })];
  }

  function modules(data, quantity, show) {
    const column = data.columns.find((found) => found.quantity === quantity && found.show === show);
    if (!column || !column.size[0]) return null;
    const kept = column.size.map((size, number) => (size > SLIVER * column.size[0] ? number : -1)).filter((number) => number >= 0);
    const depth = (number) => (number < 0 ? 0 : 1 + depth(data.parents[number]));
    const share = (number) => (column.size[number] ? Math.max(-1, Math.min(1, column.balance[number] / column.size[number])) : 0);
    const plain = show === "rhs" ? colour("rhs-back") : colour("lhs-back");
    const sign = (number) => (share(number) > 0.02 ? colour("more-fill") : share(number) < -0.02 ? colour("less-fill") : colour("panel"));
    const trace = {
      type: "icicle", branchvalues: "total", tiling: { orientation: "h" }, maxdepth: Math.min(5, Math.max(...kept.map(depth))), sort: true, leaf: { opacity: 1 },
      ids: kept.map(String), labels: kept.map((number) => literal(data.labels[number])),
      parents: kept.map((number) => (data.parents[number] < 0 ? "" : String(data.parents[number]))),
      values: kept.map((number) => column.size[number]),
      text: kept.map((number) => column.text[number]), textinfo: "label+text",
      hovertext: kept.map((number) => literal(data.paths[number] || "all") + "<br>" + column.text[number] + " (" + (100 * column.size[number] / column.size[0]).toFixed(1) + "% of all)"),
      hoverinfo: "text",
      marker: {
        colors: kept.map((number) => (show === "delta" ? sign(number) : plain)),
        line: { color: colour("paper"), width: 1.5 },
      },
      // dark on orange and green alike; the theme's own on the others
      textfont: { color: kept.map((number) => (show === "delta" && sign(number) !== colour("panel") ? "#1b1f24" : colour("ink"))) },
      pathbar: { visible: true, textfont: { color: colour("ink") } },
    };
    return [[trace], layout({ height: Math.max(240, Math.min(620, 60 + 26 * kept.length)), margin: { l: 5, r: 5, t: 25, b: 5 } })];
  }

  return { config, waterfall, timeline, modules };
})();
