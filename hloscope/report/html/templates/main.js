"use strict";
// Puts everything to work. The charts' library is large: it is run once the page can be read.
const PAPER = 700; // CSS pixels that fit A4 and letter between their margins

document.addEventListener("DOMContentLoaded", () => {
  changeTable.start();
  listingText.start();
  const data = JSON.parse(document.getElementById("data-charts").textContent);
  const checked = (name) => document.querySelector("input[name=" + name + "]:checked").value;
  const draw = (id, chart) => chart && window.Plotly && Plotly.react(id, chart[0], chart[1], charts.config);

  function drawModules() {
    const chart = charts.modules(data.modules, checked("quantity"), checked("show"));
    document.getElementById("icicle").hidden = !chart;
    document.getElementById("icicle-empty").hidden = Boolean(chart);
    draw("icicle", chart);
  }

  function drawAll() {
    if (data.waterfall) draw("waterfall", charts.waterfall(data.waterfall));
    if (data.timeline) draw("timeline", charts.timeline(data.timeline));
    drawModules();
  }

  for (const input of document.querySelectorAll("input[name=quantity], input[name=show]")) input.addEventListener("change", drawModules);
  document.getElementById("theme").addEventListener("change", (event) => {
    document.documentElement.dataset.theme = event.target.value;
    drawAll();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  // paper is narrower than a screen
  const drawn = () => Array.from(document.querySelectorAll(".chart")).filter((chart) => chart.layout && !chart.hidden);
  window.addEventListener("beforeprint", () => drawn().forEach((chart) => Plotly.relayout(chart, { autosize: false, width: PAPER })));
  window.addEventListener("afterprint", drawAll);
  const library = document.getElementById("plotly");
  requestAnimationFrame(() => setTimeout(() => {
    const script = document.createElement("script");
    script.textContent = library.textContent;
    document.head.append(script);
    library.remove();
    drawAll();
    document.documentElement.dataset.ready = "yes";
  }));
});
