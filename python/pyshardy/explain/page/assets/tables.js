// Tables whose columns sort, and the list of values.
const MOST_VALUES = 150;
const MOST_ROWS = 40;

// Columns: { title, isNumber, key(row), cell(row) }; sections: { title, rows }; rows of the list
// `inner(row)` follow a row that is open. Of long sections the first rows are shown, with a button
// for more.
function table(columns, sections, { onRow = null, inner = null } = {}) {
  const made = element("table");
  const body = element("tbody");
  const opened = new Set();
  let order = { column: null, down: true };
  const heads = columns.map((column, index) => {
    const button = element("button", { onclick: () => {
      order = { column: index, down: order.column === index ? !order.down : true };
      fill();
    } }, column.title);
    return element("th", { class: column.isNumber ? "number" : "", scope: "col" }, button);
  });
  made.append(element("thead", {}, element("tr", {}, ...heads)), body);

  function sorted(rows) {
    if (order.column === null) return rows;
    const { key } = columns[order.column];
    return [...rows].sort((a, b) => (key(a) > key(b) ? 1 : key(a) < key(b) ? -1 : 0) * (order.down ? -1 : 1));
  }
  function addRow(row, isInner) {
    const hasInner = inner && !isInner && inner(row).length > 1;
    const act = hasInner
      ? () => { if (!opened.delete(row)) opened.add(row); fill(); body.querySelector(`[data-at="${[...rowsShown].indexOf(row)}"]`)?.focus(); }
      : () => onRow?.(row);
    const line = element("tr", { tabindex: onRow || hasInner ? 0 : null, class: isInner ? "inner" : "", "aria-expanded": hasInner ? String(opened.has(row)) : null, "data-at": rowsShown.length });
    if (typeof row === "number") line.dataset.row = row;
    rowsShown.push(row);
    line.addEventListener("click", act);
    line.addEventListener("keydown", (event) => { if (event.key === "Enter" && event.target === line) act(); });
    for (const column of columns) line.append(element("td", { class: column.isNumber ? "number" : "" }, column.cell(row, isInner, hasInner && opened.has(row))));
    body.append(line);
    if (hasInner && opened.has(row)) inner(row).forEach((each) => addRow(each, true));
  }
  const mosts = new Map();
  function addMore(title, count) {
    const most = mosts.get(title) ?? MOST_ROWS;
    const more = (label, next) => element("button", { class: "more", onclick: () => { mosts.set(title, next); fill(); } }, label);
    if (count > most) body.append(element("tr", { class: "rest" }, element("td", { colspan: columns.length },
      more(`${Math.min(200, count - most).toLocaleString("en")} more`, most + 200), " ", more(`All ${count.toLocaleString("en")}`, Infinity))));
  }
  let rowsShown = [];
  function fill() {
    rowsShown = [];
    body.replaceChildren();
    heads.forEach((head, index) => head.setAttribute("aria-sort", order.column !== index ? "none" : order.down ? "descending" : "ascending"));
    for (const { title, rows } of sections) {
      if (title && rows.length) body.append(element("tr", { class: "title" }, element("th", { colspan: columns.length, scope: "rowgroup" }, title)));
      sorted(rows).slice(0, mosts.get(title) ?? MOST_ROWS).forEach((row) => addRow(row, false));
      addMore(title, rows.length);
    }
  }
  fill();
  return made;
}

// Values of the same name but for numbers, the same type and sharding are one row, as in `layers[0]`
// to `layers[31]`, if there are many.
const FEWEST_FOLDED = 3;
function foldedValues(numbers) {
  if (numbers.length <= MOST_ROWS) return numbers;
  const alike = new Map();
  for (const number of numbers) {
    const { type, sharding } = data.values[number];
    const key = JSON.stringify([shownName(number).replace(/\d+/g, "#"), type, sharding]);
    if (!alike.has(key)) alike.set(key, []);
    alike.get(key).push(number);
  }
  return [...alike.values()].flatMap((own) => (own.length < FEWEST_FOLDED ? own : [{ values: own }]));
}

// `layers[0 … 31]['up']`: the numbers in which the first and the last name differ, as ranges.
function foldedName(numbers) {
  const [first, last] = [numbers[0], numbers.at(-1)].map((number) => shownName(number).split(/(\d+)/));
  return first.map((part, index) => (part === last[index] ? part : `${part} … ${last[index]}`)).join("");
}

function fillValues() {
  const values = (row) => row.values ?? [row];
  const one = (row) => values(row)[0];
  const local = (row) => values(row).reduce((sum, number) => sum + localBytes(data.values[number], finalSharding(number)), 0);
  const name = (row) => (row.values ? foldedName(row.values) : shownName(row));
  const large = data.valueList
    .filter((value) => value.kind === "value" && value.shape.length && makers.has(value.number))
    .map((value) => value.number).sort((one, other) => local(other) - local(one)).slice(0, MOST_VALUES);
  const outputs = [...new Set(data.outputs.map(({ value }) => value))];
  const columns = [
    { title: "value", key: name, cell: (row, isInner, isOpen) => element("div", {},
      element("div", { class: "name" }, name(row)), element("span", { class: "soft type" }, data.values[one(row)].type),
      row.values ? element("div", { class: "soft" }, `${isOpen ? "▾" : "▸"} ${row.values.length.toLocaleString("en")} values`) : "") },
    { title: "on each device", key: (row) => finalSharding(one(row)).text, cell: (row) => element("div", {},
      dimsOf(finalSharding(one(row)), data.values[one(row)].shape.length),
      element("div", { class: "soft type" }, localShape(data.values[one(row)], finalSharding(one(row))).join("x"))) },
    { title: "memory", isNumber: true, key: local, cell: (row) => bytes(local(row)) },
  ];
  const sections = [
    { title: `Inputs (${inputs.length})`, rows: inputs },
    { title: `Outputs (${outputs.length})`, rows: outputs },
    { title: "Largest intermediates", rows: large },
  ];
  document.getElementById("values").append(
    element("p", { class: "padded total" }, `${data.valueList.length.toLocaleString("en")} values; memory on each device`),
    csvButton("values.csv", () => [["name", "type", "sharding", "type on each device", "bytes on each device"],
      ...sections.flatMap(({ rows }) => rows).map((n) => [shownName(n), data.values[n].type, finalSharding(n).text, localShape(data.values[n], finalSharding(n)).join("x"), local(n)])]),
    table(columns, sections.map(({ title, rows }) => ({ title, rows: foldedValues(rows) })), { onRow: (number) => visit({ value: number }), inner: (row) => row.values ?? [] }),
  );
}

const TABS = ["sizes", "values", "collectives", "costs", "compare"].filter((name) => document.getElementById(`tab-${name}`));
function showTab(name) {
  for (const each of TABS) {
    document.getElementById(each).hidden = each !== name;
    const tab = document.getElementById(`tab-${each}`);
    tab.setAttribute("aria-selected", each === name);
    tab.tabIndex = each === name ? 0 : -1;
  }
}

// Arrow keys between the tabs of a list of them.
function addTabKeys(list, show) {
  list.addEventListener("keydown", (event) => {
    const tabs = [...list.querySelectorAll("[role=tab]")];
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const next = tabs[(tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length];
    next.focus();
    show(next);
  });
}
