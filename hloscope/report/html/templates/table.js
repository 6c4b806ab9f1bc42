"use strict";
// The table of changes: filter, sort, open. A row that is open keeps its detail below it.
const changeTable = (() => {
  const table = document.getElementById("rows");
  if (!table) return { start() {} };
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  const opens = new Map();
  rows.forEach((row, number) => { row.dataset.place = number; });

  function filter() {
    const words = document.getElementById("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
    const kind = document.getElementById("class").value;
    const role = document.getElementById("role").value;
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      const fits = words.every((word) => text.includes(word)) &&
        (!kind || row.dataset.classes.split("|").includes(kind)) && (!role || row.dataset.role === role);
      row.hidden = !fits;
      const detail = opens.get(row);
      if (detail) detail.hidden = !fits || row.querySelector(".open").getAttribute("aria-expanded") !== "true";
      shown += fits ? 1 : 0;
    }
    document.getElementById("shown").textContent = shown + " of " + rows.length + " changes";
  }

  function keyOf(row, name) {
    if (name === "what") return row.cells[4].textContent.trim();
    if (name === "where") return row.cells[5].textContent.trim();
    return Number(row.dataset[name]);
  }

  // numbers begin with the largest difference of either sign, everything else with the first
  function sort(button) {
    const header = button.closest("th"), name = button.dataset.sort;
    const figure = ["held", "moved", "flops"].includes(name);
    const before = header.getAttribute("aria-sort");
    const descending = before ? before === "ascending" : figure;
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", descending ? "descending" : "ascending");
    const compare = (one, other) => {
      const a = keyOf(one, name), b = keyOf(other, name);
      const order = typeof a === "number" ? (figure ? Math.abs(a) - Math.abs(b) : a - b) : a.localeCompare(b);
      return (descending ? -order : order) || one.dataset.place - other.dataset.place;
    };
    for (const row of rows.slice().sort(compare)) {
      body.append(row);
      if (opens.has(row)) body.append(opens.get(row));
    }
  }

  function open(row) {
    const button = row.querySelector(".open");
    const expanded = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!expanded));
    if (!opens.has(row)) {
      const detail = document.createElement("tr");
      detail.className = "detail";
      const cell = detail.insertCell();
      cell.colSpan = 6;
      changeGraph.fill(cell, Number(row.dataset.place));
      opens.set(row, detail);
      row.after(detail);
    }
    opens.get(row).hidden = expanded;
  }

  function start() {
    for (const id of ["filter", "class", "role"]) document.getElementById(id).addEventListener("input", filter);
    document.getElementById("filters").addEventListener("submit", (event) => event.preventDefault());
    table.tHead.addEventListener("click", (event) => {
      const button = event.target.closest("button[data-sort]");
      if (button) sort(button);
    });
    body.addEventListener("click", (event) => {
      const button = event.target.closest("button.open");
      if (button) open(button.closest("tr"));
    });
    filter();
  }
  return { start };
})();
