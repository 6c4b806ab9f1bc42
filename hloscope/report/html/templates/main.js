// Puts everything to work. The charts' library is large and takes a second to run: the page can be
// read and used before that. Each chart is then drawn when a reader comes near, or else when nothing
// else is to be done, one at a time.
const PAPER = 700; // CSS pixels that fit A4 and letter between their margins
const NEAR = "50% 0px"; // of the screen's height, how far from it a chart is drawn

document.addEventListener("DOMContentLoaded", () => {
  changeTable.start();
  listingText.start();
  const data = JSON.parse(document.getElementById("data-charts").textContent);
  const checked = (name) => document.querySelector("input[name=" + name + "]:checked").value;
  const made = {
    waterfall: () => charts.waterfall(data.waterfall),
    timeline: () => charts.timeline(data.timeline),
    icicle: () => charts.modules(data.modules, checked("quantity"), checked("show")),
  };
  const ids = ["waterfall", "timeline", "icicle"].filter((id) => id === "icicle" || data[id]);
  const drawn = new Set();

  function place(id) {
    const chart = made[id](), element = document.getElementById(id);
    if (id === "icicle") {
      element.hidden = !chart;
      document.getElementById("icicle-empty").hidden = Boolean(chart);
    }
    if (chart) element.style.minHeight = chart[1].height + "px"; // nothing moves when it is drawn
    return chart;
  }

  function draw(id) {
    const chart = place(id);
    drawn.add(id);
    if (chart) Plotly.react(id, chart[0], chart[1], charts.config);
  }

  const missing = () => ids.filter((id) => !drawn.has(id));
  const redraw = () => drawn.forEach(draw);
  const changed = (id) => (drawn.has(id) ? draw(id) : place(id));
  ids.forEach(place);

  for (const input of document.querySelectorAll("input[name=quantity], input[name=show]")) input.addEventListener("change", () => changed("icicle"));
  document.getElementById("theme").addEventListener("change", (event) => {
    document.documentElement.dataset.theme = event.target.value;
    redraw();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);

  function run() {
    const library = document.getElementById("plotly");
    if (!library) return;
    const script = document.createElement("script");
    script.textContent = library.textContent;
    document.head.append(script);
    library.remove();
  }

  function arrived(id) {
    draw(id);
    performance.mark("chart");
    if (missing().length) return;
    performance.mark("charts");
    document.documentElement.dataset.ready = "yes";
  }

  // paper is narrower than a screen, and holds all charts
  const shown = () => Array.from(document.querySelectorAll(".chart")).filter((chart) => chart.layout && !chart.hidden);
  window.addEventListener("beforeprint", () => {
    run();
    missing().forEach(arrived);
    shown().forEach((chart) => Plotly.relayout(chart, { autosize: false, width: PAPER }));
  });
  window.addEventListener("afterprint", redraw);

  const rest = () => requestIdleCallback(() => {
    missing().slice(0, 1).forEach(arrived);
    if (missing().length) rest();
  });
  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting && !drawn.has(entry.target.id)) arrived(entry.target.id);
  }, { rootMargin: NEAR });
  requestAnimationFrame(() => setTimeout(() => {
    run();
    ids.forEach((id) => watcher.observe(document.getElementById(id)));
    rest();
  }));
});
