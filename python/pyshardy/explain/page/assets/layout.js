// Where everything stands: members of an open group by dagre, in layers and without crossing boxes.
const sizes = { height: 46, gapX: 20, gapY: 34, margin: 16, bar: 26, columns: 6, many: 250 };

// The label of a group of a source line is its text, if the page has it.
const sourceLines = new Map(data.texts.slice(2).map(({ name, text: whole }) => [name, whole.split("\n")]));
function labelOf(member) {
  if (typeof member === "number") return nodeOf(member).name.replace(/^stablehlo\./, "");
  const [, file, line] = /^(.+):(\d+)$/.exec(member.label) ?? [];
  return sourceLines.get(file)?.[line - 1]?.trim() || member.label;
}

// The number of operations of a group, and their lines if no scope says what they are.
function countOf(group) {
  const each = group.copies > 1 ? Math.round(group.operations.length / group.copies) : group.operations.length;
  const count = `${each.toLocaleString("en")} ${group.of ?? "operations"}${group.copies > 1 ? " each" : ""}`;
  return group.is_scope || group.of || group.copies > 1 ? count : [count, linesOf(group)].filter(Boolean).join(", ");
}
// `lines 12 to 31`, or `model.py:12 to 31`, if the operations of a group are from one file.
function linesOf(group) {
  if (group.lines !== undefined) return group.lines;
  let [file, first, last] = [null, Infinity, 0];
  for (const number of group.operations) {
    const [, own, line] = /^(.*?):(\d+)/.exec(nodeOf(number).place ?? "") ?? [];
    if (own !== (file ?? own)) return (group.lines = "");
    [file, first, last] = [own, Math.min(first, line), Math.max(last, line)];
  }
  const place = file ? shownPlace(`${file}:${first}`) : "";
  return (group.lines = !place || first === last ? place : `${place.replace(/^line /, "lines ")} to ${last}`);
}

function widthOf(member) {
  const value = typeof member === "number" ? data.values[nodeOf(member).results[0]] : null;
  const below = value ? 6.6 * value.type.length + 14 * value.shape.length + 22 : 0;
  return Math.max(92, Math.min(280, Math.max(34 + 7.3 * labelOf(member).length, below)));
}

// The box of a member; an open group has the boxes of its members, and the edges between them.
function boxOf(member) {
  if (typeof member === "number") return { member, width: widthOf(member), height: sizes.height };
  if (!state.open.has(member.id)) {
    const below = 36 + 6 * countOf(member).length;
    return { member, width: Math.max(150, below, widthOf(member) + 12 + (member.copies > 1 ? 34 : 0)), height: sizes.height };
  }
  const boxes = member.members.map(boxOf);
  const edges = edgesBetween(member, boxes);
  const top = member === world ? 0 : sizes.bar;
  const linked = new Set(edges.flatMap((edge) => [edge.source, edge.target]));
  const layered = placeLayers(boxes.filter((box) => linked.has(box)), edges, top);
  const size = placeGrid(boxes.filter((box) => !linked.has(box)), layered);
  return { member, isOpen: true, boxes, edges, width: Math.max(170, size.width + sizes.margin), height: size.height };
}

function edgesBetween(group, boxes) {
  const boxOfOperation = new Map();
  for (const box of boxes) {
    const inside = typeof box.member === "number" ? [box.member] : box.member.operations;
    for (const operation of inside) boxOfOperation.set(operation, box);
  }
  const found = new Map();
  for (const [operation, box] of boxOfOperation) {
    for (const operand of nodeOf(operation)?.operands ?? []) {
      const source = boxOfOperation.get(makers.get(operand));
      if (!source || source === box) continue;
      if (!found.has(source)) found.set(source, new Map());
      const targets = found.get(source);
      if (!targets.has(box)) targets.set(box, { source, target: box, values: [] });
      targets.get(box).values.push(operand);
    }
  }
  return [...found.values()].flatMap((targets) => [...targets.values()]);
}

// Boxes with edges; returns the width and the bottom of what they take.
function placeLayers(boxes, edges, top) {
  if (!boxes.length) return { width: sizes.margin, height: top + sizes.margin };
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({
    nodesep: sizes.gapX, ranksep: sizes.gapY, edgesep: 10,
    ranker: boxes.length > sizes.many ? "longest-path" : "network-simplex",
  });
  const names = new Map(boxes.map((box, index) => [box, String(index)]));
  for (const box of boxes) graph.setNode(names.get(box), { width: box.width, height: box.height });
  for (const edge of edges) graph.setEdge(names.get(edge.source), names.get(edge.target), {});
  dagre.layout(graph);
  const [left, above] = [sizes.margin, top + sizes.margin];
  for (const box of boxes) {
    const { x, y } = graph.node(names.get(box));
    box.x = left + x - box.width / 2;
    box.y = above + y - box.height / 2;
  }
  for (const edge of edges) {
    const { points } = graph.edge(names.get(edge.source), names.get(edge.target));
    edge.points = points.map(({ x, y }) => [left + x, above + y]);
  }
  const { width, height } = graph.graph();
  return { width: left + width, height: above + height + sizes.margin };
}

// Boxes without edges, in rows below the others.
function placeGrid(boxes, { width, height }) {
  if (!boxes.length) return { width, height };
  let [x, y] = [sizes.margin, height];
  const widest = Math.max(width, sizes.columns * 150);
  let [right, tallest] = [width, 0];
  for (const box of boxes) {
    if (x > sizes.margin && x + box.width > widest) {
      x = sizes.margin;
      y += tallest + sizes.gapX;
      tallest = 0;
    }
    Object.assign(box, { x, y });
    right = Math.max(right, x + box.width);
    tallest = Math.max(tallest, box.height);
    x += box.width + sizes.gapX;
  }
  return { width: right, height: y + tallest + sizes.margin };
}
