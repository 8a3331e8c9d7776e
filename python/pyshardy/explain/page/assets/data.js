// The data of the page, as `pack.py` writes it: tables by columns, compressed.
async function read(element) {
  const bytes = Uint8Array.from(atob(element.textContent), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return unpacked(JSON.parse(await new Response(stream).text()));
}

function unpacked(value) {
  if (Array.isArray(value)) return value.some((each) => typeof each === "object") ? value.map(unpacked) : value;
  if (value === null || typeof value !== "object") return value;
  if (!value.columns) return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, unpacked(entry)]));
  const columns = Object.entries(value.columns).map(([name, column]) => {
    if (Array.isArray(column)) return [name, unpacked(column)];
    const distinct = unpacked(column.of);
    return [name, column.at.map((index) => distinct[index])];
  });
  return Array.from({ length: value.count }, (_, row) => {
    const made = {};
    for (const [name, column] of columns) made[name] = column[row];
    return made;
  });
}

const data = await (async () => {
  const names = ["program", "plan", "costs", "reasons"];
  const [program, plan, costs, reasons] = await Promise.all(names.map((name) => read(document.getElementById(`data-${name}`))));
  const texts = [program.texts[0], plan.partitioned, ...program.texts.slice(1)];
  const collectives = plan.collectives.map((one, number) => ({ ...one, ...costs.collectives[number] }));
  return { ...program, ...plan, collectives, costs, reasons, texts };
})();

// Values and operations by number; numbers of hidden operations have none.
data.valueList = data.values;
data.nodeList = data.nodes;
data.values = [];
data.nodes = [];
for (const value of data.valueList) {
  const { text, shape, element_bytes } = data.types[value.type];
  data.values[value.number] = Object.assign(value, { type: text, shape, elementBytes: element_bytes });
}
for (const node of data.nodeList) data.nodes[node.number] = Object.assign(node, { collectives: [] });
data.collectives.forEach((one, number) => {
  if (one.node !== null) data.nodes[one.node].collectives.push(number);
});
const outputNames = new Map();
for (const { name, value } of data.outputs) outputNames.set(value, [...(outputNames.get(value) ?? []), name]);
for (const [value, names] of outputNames) data.values[value].outputs = names;

// Operations that use each value.
const users = new Map();
for (const node of data.nodeList) {
  for (const operand of new Set(node.operands)) {
    if (!users.has(operand)) users.set(operand, []);
    users.get(operand).push(node.number);
  }
}

const collectivesOf = new Map();
data.collectives.forEach((one, number) => {
  if (one.value !== null) collectivesOf.set(one.value, [...(collectivesOf.get(one.value) ?? []), number]);
});

function placeOf(number) {
  const value = data.values[number];
  return value.place ?? (value.node === null ? null : data.nodes[value.node]?.place ?? null);
}

// `file:12:5` without folders, and without the file if it is that of the page.
function shownPlace(place) {
  if (!place) return "";
  const [, file, rest] = /^(.*?)((?::\d+)*)$/.exec(place);
  return file === data.title ? `line ${rest.slice(1)}` : `${file.split("/").pop()}${rest}`;
}

// What pyshardy says of a value, without the dialect, the entry and the file of the page; arguments
// have the names of the lists.
function shortened(said) {
  return said.replaceAll("stablehlo.", "")
    .replace(/\bargument (\d+) of @main/g, (all, number) => (inputs[number] === undefined ? all : shownName(inputs[number])))
    .replaceAll(" of @main", "").replaceAll(`(${data.title}:`, "(line ");
}

function shownName(number) {
  const value = data.values[number];
  return value.outputs?.length ? value.outputs[0] : value.name.replace("stablehlo.", "");
}
