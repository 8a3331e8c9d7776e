// This plan beside the other one: costs, collectives, and the shardings that differ.
function fillCompare() {
  const { other } = data;
  if (!other) return;
  const names = [data.title.split("/").pop(), other.title.split("/").pop()];
  if (names[0] === names[1]) names.splice(0, 2, data.title, other.title);
  const pair = (first, second) => [
    { title: names[0], isNumber: true, key: first, cell: first },
    { title: names[1], isNumber: true, key: second, cell: second },
  ];
  const theirs = estimateRows(other.estimate);
  const costs = estimateRows(data.costs.estimate).map(([name, ours], index) => ({ name, ours, theirs: theirs[index][1] }));
  const panel = document.getElementById("compare");
  panel.append(
    element("h3", { class: "padded" }, `Each device, ${other.estimate.hardware}`),
    table([{ title: "", key: (row) => row.name, cell: (row) => row.name }, ...pair((row) => row.ours, (row) => row.theirs)], [{ title: "", rows: costs }]),
  );
  if (other.collectives.length) panel.append(element("h3", { class: "padded" }, "Different collectives"), table([
    { title: "collective", key: (row) => row.kind, cell: (row) => element("div", { class: "name" }, shownKind(row), " ", row.axes ? axisChip(row.axes) : "") },
    ...[0, 1].map((side) => ({ title: names[side], isNumber: true, key: (row) => row.nbytes_sent[side],
      cell: (row) => element("div", {}, bytes(row.nbytes_sent[side]), element("div", { class: "soft" }, `${row.counts[side]} of them`)) })),
  ], [{ title: "", rows: other.collectives }]));
  if (other.ports.length) panel.append(element("h3", { class: "padded" }, "Different arguments and results"), table([
    { title: "name", key: (row) => row.name, cell: (row) => element("div", { class: "name" }, row.name) },
    ...["first", "second"].map((side, index) => ({ title: names[index], key: (row) => row[side], cell: (row) => element("span", { class: "type wrapped" }, row[side]) })),
  ], [{ title: "", rows: other.ports }]));
  const numbers = Object.keys(other.shardings).map(Number).filter((number) => makers.has(number));
  const dims = (number, sharding) => dimsOf(sharding, data.values[number].shape.length);
  if (numbers.length) panel.append(element("h3", { class: "padded" }, `Different values (${numbers.length})`), table([
    { title: "value", key: shownName, cell: (n) => element("div", {}, element("div", { class: "name" }, shownName(n)), element("span", { class: "soft" }, shownPlace(placeOf(n)))) },
    { title: names[0], key: (n) => finalSharding(n).text, cell: (n) => dims(n, finalSharding(n)) },
    { title: names[1], key: (n) => data.shardings[other.shardings[n]].text, cell: (n) => dims(n, data.shardings[other.shardings[n]]) },
  ], [{ title: "", rows: numbers.slice(0, 500) }], { onRow: (number) => visit({ value: number }) }));
  if (!other.is_aligned) panel.append(element("p", { class: "soft padded" }, "The operations of the plans differ, so that only arguments, results, collectives and costs are compared."));
}
