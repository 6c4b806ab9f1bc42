"use strict";
// HLO text, line beside line; a computation is put on the page when it is opened.
const listingText = (() => {
  const KINDS = { "~": "c", "-": "l", "+": "r", ">": "m", "…": "g", "!": "g" };
  const NEAR = 3, FEW = 8;
  let data = null;

  function marked(parent, text, spans) {
    let end = 0;
    for (const [begin, stop] of spans || []) {
      parent.append(text.slice(end, begin));
      const mark = document.createElement("mark");
      mark.textContent = text.slice(begin, stop);
      parent.append(mark);
      end = stop;
    }
    parent.append(text.slice(end));
  }

  function row(body, before, line) {
    const [sign, lhs, rhs, left, right] = line;
    const element = body.insertRow(before);
    element.className = KINDS[sign] || "";
    element.insertCell().className = "sign";
    element.cells[0].textContent = sign;
    if (sign === "…" || sign === "!") {
      const cell = element.insertCell();
      cell.colSpan = 2;
      cell.textContent = sign === "…" ? lhs + " lines that do not differ" : lhs + " more lines that are not in this file";
      return;
    }
    const other = line.length === 2 ? lhs : rhs;
    marked(element.insertCell(), lhs, left);
    marked(element.insertCell(), other, right);
  }

  // equal lines that are here but far from any other are folded away
  function folded(body, lines) {
    const near = new Set();
    lines.forEach((line, number) => {
      if (line[0] !== " ") for (let n = number - NEAR; n <= number + NEAR; n += 1) near.add(n);
    });
    let number = 0;
    while (number < lines.length) {
      let end = number;
      while (end < lines.length && !near.has(end)) end += 1;
      if (end - number > FEW) {
        fold(body, lines.slice(number, end));
        number = end;
      } else {
        row(body, -1, lines[number]);
        number += 1;
      }
    }
  }

  function fold(body, lines) {
    const element = body.insertRow(-1);
    element.className = "g";
    const cell = element.insertCell();
    cell.colSpan = 3;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "show " + lines.length + " equal lines";
    button.addEventListener("click", () => {
      const place = element.sectionRowIndex;
      element.remove();
      lines.forEach((line, number) => row(body, place + number, line));
    });
    cell.append(button);
  }

  function open(details) {
    if (!details.open || details.dataset.filled) return;
    details.dataset.filled = "yes";
    data = data || JSON.parse(document.getElementById("data-listing").textContent);
    const table = document.createElement("table");
    table.className = "lines";
    const group = document.createElement("colgroup");
    for (const width of ["1.8rem", "", ""]) {
      const column = document.createElement("col");
      column.style.width = width;
      group.append(column);
    }
    table.append(group, document.createElement("tbody"));
    folded(table.tBodies[0], data[Number(details.dataset.listing)]);
    details.append(table);
  }

  function start() {
    for (const details of document.querySelectorAll("details.listing")) details.addEventListener("toggle", () => open(details));
  }
  return { marked, start };
})();
