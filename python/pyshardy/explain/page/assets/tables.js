// Tables whose columns sort, and the list of values.
const MOST_VALUES = 150;

// Columns: { title, isNumber, key(row), cell(row) }; sections: { title, rows }; rows of the list
// `inner(row)` follow a row that is open.
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
  let rowsShown = [];
  function fill() {
    rowsShown = [];
    body.replaceChildren();
    heads.forEach((head, index) => head.setAttribute("aria-sort", order.column !== index ? "none" : order.down ? "descending" : "ascending"));
    for (const { title, rows } of sections) {
      if (title && rows.length) body.append(element("tr", { class: "title" }, element("th", { colspan: columns.length, scope: "rowgroup" }, title)));
      for (const row of sorted(rows)) addRow(row, false);
    }
  }
  fill();
  return made;
}

function fillValues() {
  const local = (number) => localBytes(data.values[number], finalSharding(number));
  const large = data.valueList
    .filter((value) => value.kind === "value" && value.shape.length && makers.has(value.number))
    .map((value) => value.number).sort((one, other) => local(other) - local(one)).slice(0, MOST_VALUES);
  const outputs = [...new Set(data.outputs.map(({ value }) => value))];
  const columns = [
    { title: "value", key: shownName, cell: (n) => element("div", {},
      element("div", { class: "name" }, shownName(n)), element("span", { class: "soft type" }, data.values[n].type)) },
    { title: "on each device", key: (n) => finalSharding(n).text, cell: (n) => element("div", {},
      dimsOf(finalSharding(n), data.values[n].shape.length),
      element("div", { class: "soft type" }, localShape(data.values[n], finalSharding(n)).join("x"))) },
    { title: "memory", isNumber: true, key: local, cell: (n) => bytes(local(n)) },
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
    table(columns, sections, { onRow: (number) => visit({ value: number }) }),
  );
}

const TABS = ["values", "collectives", "costs", "compare"].filter((name) => document.getElementById(`tab-${name}`));
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
