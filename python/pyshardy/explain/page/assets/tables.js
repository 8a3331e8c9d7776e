// The lists at the left: inputs, outputs and large values; collectives by what they send.
const MOST_VALUES = 150;

function table(columns, sections, onRow) {
  const made = element("table");
  const head = element("tr");
  let order = { column: null, down: true };
  columns.forEach((column, index) => {
    const cell = element("th", { class: column.isNumber ? "number" : "", scope: "col", onclick: () => {
      order = { column: index, down: order.column === index ? !order.down : true };
      fill();
    } }, column.title);
    head.append(cell);
  });
  const body = element("tbody");
  made.append(element("thead", {}, head), body);
  function fill() {
    body.replaceChildren();
    for (const { title, rows } of sections) {
      const sorted = [...rows];
      if (order.column !== null) {
        const { key } = columns[order.column];
        sorted.sort((a, b) => (key(a) > key(b) ? 1 : key(a) < key(b) ? -1 : 0) * (order.down ? -1 : 1));
      }
      if (title && rows.length) body.append(element("tr", { class: "title" }, element("td", { colspan: columns.length }, title)));
      for (const row of sorted) {
        const line = element("tr", { tabindex: 0, "data-row": row, onclick: () => onRow(row) });
        line.addEventListener("keydown", (event) => { if (event.key === "Enter") onRow(row); });
        for (const column of columns) line.append(element("td", { class: column.isNumber ? "number" : "" }, column.cell(row)));
        body.append(line);
      }
    }
  }
  fill();
  return made;
}

function fillValues() {
  const numbers = Object.keys(data.values).map(Number);
  const final = (number) => data.shardings[data.values[number].sharding];
  const local = (number) => localBytes(data.values[number], final(number));
  const ofKind = (kind) => numbers.filter((number) => data.values[number].kind === kind);
  const large = ofKind("value").filter((number) => data.values[number].shape.length && makers.has(number))
    .sort((one, other) => local(other) - local(one)).slice(0, MOST_VALUES);
  const columns = [
    { title: "value", key: (n) => data.values[n].name, cell: (n) => {
      const value = data.values[n];
      return element("div", {}, element("div", { class: "name" }, value.name.replace("stablehlo.", "")),
        element("span", { class: "soft type" }, value.type));
    } },
    { title: "on each device", key: (n) => final(n).text, cell: (n) => element("div", {},
      dimsOf(final(n), data.values[n].shape.length), element("div", { class: "soft type" }, localShape(data.values[n], final(n)).join("x"))) },
    { title: "memory", isNumber: true, key: local, cell: (n) => bytes(local(n)) },
  ];
  document.getElementById("values").append(table(columns, [
    { title: `Inputs (${ofKind("input").length})`, rows: ofKind("input") },
    { title: `Outputs (${ofKind("output").length})`, rows: ofKind("output") },
    { title: "Largest intermediates", rows: large },
  ], (number) => visit({ value: number })));
}

function fillCollectives() {
  const numbers = data.collectives.map((_, number) => number)
    .sort((one, other) => data.collectives[other].nbytes - data.collectives[one].nbytes);
  const panel = document.getElementById("collectives");
  if (!numbers.length) {
    panel.append(element("p", { class: "soft", style: "padding:0 12px" }, "No collectives"));
    return;
  }
  const columns = [
    { title: "collective", key: (n) => data.collectives[n].kind, cell: (n) => {
      const one = data.collectives[n];
      const axes = one.axes.map((axis) => element("span", { class: "axis", style: `--hue:${hueOf(axis)}` }, axis));
      return element("div", {}, element("div", { class: "name" }, one.kind.replaceAll("_", "-"), " ", ...axes), element("div", { class: "soft" }, one.reason));
    } },
    { title: "sent", isNumber: true, key: (n) => data.collectives[n].nbytes, cell: (n) => bytes(data.collectives[n].nbytes) },
  ];
  panel.append(table(columns, [{ title: "", rows: numbers }], (number) => visit({ collective: number })));
}

function showTab(name) {
  for (const each of ["values", "collectives"]) {
    document.getElementById(each).hidden = each !== name;
    document.getElementById(`tab-${each}`).setAttribute("aria-selected", each === name);
  }
}
