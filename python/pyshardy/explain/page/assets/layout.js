// Where everything stands: members of an open group in layers, each below all that it uses.
const sizes = { height: 44, gapX: 22, gapY: 38, margin: 16, bar: 26, widest: 10 };

function labelOf(member) {
  if (typeof member !== "number") return member.label;
  return nodeOf(member).name.replace(/^stablehlo\./, "");
}

function widthOf(member) {
  const value = typeof member === "number" ? data.values[nodeOf(member).results[0]] : null;
  const below = value ? 6.4 * value.type.length + 11 * value.shape.length + 14 : 0;
  return Math.max(92, Math.min(260, Math.max(34 + 7.1 * labelOf(member).length, 20 + below)));
}

// The box of a member; an open group has the boxes of its members, and the edges between them.
function boxOf(member) {
  if (typeof member === "number") return { member, width: widthOf(member), height: sizes.height };
  if (!state.open.has(member.id)) {
    return { member, width: Math.max(150, widthOf(member)), height: sizes.height };
  }
  const boxes = member.members.map(boxOf);
  const edges = edgesBetween(member, boxes);
  const layers = layersOf(boxes, edges);
  orderLayers(layers, edges);
  return { member, isOpen: true, boxes, edges, ...placed(layers) };
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

function layersOf(boxes, edges) {
  const incoming = new Map(boxes.map((box) => [box, []]));
  edges.forEach((edge) => incoming.get(edge.target).push(edge.source));
  const depth = new Map();
  const visiting = new Set();
  function depthOf(box) {
    if (depth.has(box)) return depth.get(box);
    if (visiting.has(box)) return -1; // what loops hand back to themselves
    visiting.add(box);
    const found = Math.max(-1, ...incoming.get(box).map(depthOf)) + 1;
    depth.set(box, found);
    return found;
  }
  const layers = [];
  for (const box of boxes) (layers[depthOf(box)] ??= []).push(box);
  return layers.filter(Boolean).flatMap((layer) => {
    const rows = [];
    for (let at = 0; at < layer.length; at += sizes.widest) rows.push(layer.slice(at, at + sizes.widest));
    return rows;
  });
}

// Put each box near the middle of what it uses, and of what uses it, twice.
function orderLayers(layers, edges) {
  const neighbours = new Map();
  for (const { source, target } of edges) {
    for (const [box, other] of [[source, target], [target, source]]) {
      if (!neighbours.has(box)) neighbours.set(box, []);
      neighbours.get(box).push(other);
    }
  }
  const place = new Map();
  const note = (layer) => layer.forEach((box, index) => place.set(box, (index + 0.5) / layer.length));
  layers.forEach(note);
  for (const order of [layers, [...layers].reverse(), layers]) {
    for (const layer of order) {
      const middle = new Map(layer.map((box) => {
        const around = (neighbours.get(box) ?? []).map((other) => place.get(other));
        return [box, around.length ? around.reduce((sum, at) => sum + at, 0) / around.length : place.get(box)];
      }));
      layer.sort((one, other) => middle.get(one) - middle.get(other));
      note(layer);
    }
  }
}

function placed(layers) {
  const widths = layers.map((layer) =>
    layer.reduce((sum, box) => sum + box.width, 0) + sizes.gapX * (layer.length - 1));
  const inner = Math.max(0, ...widths);
  let y = sizes.bar + sizes.margin;
  layers.forEach((layer, index) => {
    let x = sizes.margin + (inner - widths[index]) / 2;
    const tallest = Math.max(...layer.map((box) => box.height));
    for (const box of layer) {
      box.x = x;
      box.y = y + (tallest - box.height) / 2;
      x += box.width + sizes.gapX;
    }
    y += tallest + sizes.gapY;
  });
  return { width: Math.max(170, inner + 2 * sizes.margin), height: y - sizes.gapY + sizes.margin };
}
