"use strict";
// What a change opens into: its HLO text on both sides, and the graph around it. Both sides are
// drawn on one layout, so that the two of a pair stand at the same place.
const changeGraph = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  const WIDTH = 168, HEIGHT = 36, COLUMN = 186, ROW = 64, MARGIN = 14;
  const SIDES = ["lhs", "rhs"];
  let details = null;

  function make(parent, name, attributes, text) {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes || {})) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    parent.append(element);
    return element;
  }

  function tag(parent, name, className, text) {
    const element = document.createElement(name);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    parent.append(element);
    return element;
  }

  const short = (text, length) => (text.length > length ? text.slice(0, length - 1) + "…" : text);

  function fill(cell, place) {
    details = details || JSON.parse(document.getElementById("data-details").textContent);
    const detail = details[place];
    const texts = tag(cell, "div", "pair");
    SIDES.forEach((side, number) => {
      const part = tag(texts, "div", side);
      tag(part, "h4", "", side);
      listingText.marked(tag(part, "pre", "hlo"), detail.text[number] || "(not on this side)", detail.text[2 + number]);
    });
    const bar = tag(cell, "p", "controls");
    const less = tag(bar, "button", "", "fewer neighbours"), more = tag(bar, "button", "", "more neighbours");
    const told = tag(bar, "span", "quiet");
    told.setAttribute("role", "status");
    const graphs = tag(cell, "div", "pair");
    const farthest = Math.max(...detail.nodes.map((node) => node[0]));
    let step = 1;
    const draw = () => {
      graphs.replaceChildren();
      SIDES.forEach((side, number) => panel(graphs, detail, number, step));
      const count = detail.nodes.filter((node) => node[0] <= step).length;
      told.textContent = count + " instructions at most " + step + " step" + (step > 1 ? "s" : "") + " away; dashed: on one side alone, yellow: differs";
      less.disabled = step <= 1;
      more.disabled = step >= Math.min(farthest, detail.layouts.length);
    };
    less.type = more.type = "button";
    less.addEventListener("click", () => { step -= 1; draw(); });
    more.addEventListener("click", () => { step += 1; draw(); });
    draw();
    link(graphs);
  }

  // what one side scrolls, the other scrolls too
  function link(graphs) {
    graphs.addEventListener("scroll", (event) => {
      for (const other of graphs.querySelectorAll(".graph")) {
        if (other !== event.target && event.target.classList.contains("graph")) {
          other.scrollLeft = event.target.scrollLeft;
          other.scrollTop = event.target.scrollTop;
        }
      }
    }, true);
  }

  function panel(graphs, detail, number, step) {
    const side = SIDES[number], layout = detail.layouts[step - 1];
    const part = tag(graphs, "div", side);
    tag(part, "h4", "", side + " graph");
    const frame = tag(part, "div", "graph");
    frame.tabIndex = 0;
    const shown = layout.places.map((_, node) => detail.nodes[node][3 + number] !== null);
    const all = Object.values(layout.bends).flat().concat(layout.places);
    const columns = Math.max(...all.map((place) => place[0])), lines = Math.max(...all.map((place) => place[1]));
    const width = MARGIN * 2 + columns * COLUMN + WIDTH, height = MARGIN * 2 + lines * ROW + HEIGHT;
    const names = layout.places.map((_, node) => node).filter((node) => shown[node]).map((node) => detail.nodes[node][3 + number][1]);
    const svg = make(frame, "svg", { width, height, viewBox: "0 0 " + width + " " + height, role: "img", "aria-label": side + ": " + names.join(", ") });
    for (const [source, user, sides] of detail.edges) {
      if (source < layout.places.length && user < layout.places.length && sides & (1 << number)) {
        edge(svg, layout, source, user, sides !== 3);
      }
    }
    layout.places.forEach((place, node) => box(svg, place, detail.nodes[node], number, node === 0));
    frame.scrollLeft = layout.places[0][0] * COLUMN + WIDTH / 2 - frame.clientWidth / 2;
  }

  const middle = (place) => MARGIN + place[0] * COLUMN + WIDTH / 2;
  const top = (place) => MARGIN + place[1] * ROW;

  function edge(svg, layout, source, user, only) {
    const from = layout.places[source], to = layout.places[user];
    const points = [[middle(from), top(from) + HEIGHT]];
    for (const bend of layout.bends[source + "," + user] || []) points.push([middle(bend), top(bend) + HEIGHT / 2]);
    points.push([middle(to), top(to) - 5]);
    let way = "M" + points[0].join(" ");
    for (let n = 1; n < points.length; n += 1) {
      const half = (points[n - 1][1] + points[n][1]) / 2;
      way += " C" + points[n - 1][0] + " " + half + " " + points[n][0] + " " + half + " " + points[n].join(" ");
    }
    make(svg, "path", { d: way, class: only ? "only" : "" });
    const [x, y] = points[points.length - 1];
    make(svg, "path", { d: "M" + (x - 4) + " " + (y - 2) + " L" + (x + 4) + " " + (y - 2) + " L" + x + " " + (y + 5) + " Z", class: "head" });
  }

  function box(svg, place, node, number, start) {
    const [, status, hidden, lhs, rhs] = node, label = number ? rhs : lhs;
    const kinds = { "~": "changed", "-": "only-lhs", "+": "only-rhs", "=": "" };
    const group = make(svg, "g", { class: (label ? kinds[status] : "absent") + (start ? " start" : "") });
    const x = MARGIN + place[0] * COLUMN, y = top(place);
    make(group, "rect", { x, y, width: WIDTH, height: HEIGHT, rx: 5 });
    if (!label) {
      make(group, "title", {}, "on " + (number ? "lhs" : "rhs") + " alone");
      return;
    }
    const signs = { "~": "~ ", "-": "- ", "+": "+ ", "=": "" };
    make(group, "title", {}, label.join(" ") + (hidden[number] ? "; " + hidden[number] + " more neighbours" : ""));
    make(group, "text", { x: x + 6, y: y + 15 }, short(signs[status] + label[1], 25));
    make(group, "text", { x: x + 6, y: y + 29, class: "shape" }, short(label[2], 22));
    if (hidden[number]) make(group, "text", { x: x + WIDTH - 5, y: y + 29, class: "more", "text-anchor": "end" }, "+" + hidden[number]);
  }

  return { fill, tag };
})();
