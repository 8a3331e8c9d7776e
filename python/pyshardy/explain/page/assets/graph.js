// The graph as SVG. A step of the replay changes colours only; opening a group draws it anew.
const canvas = document.getElementById("canvas");
const content = drawn("g");
canvas.append(content);
const view = { x: 0, y: 0, scale: 1 };
let drawnEdges = [];
let drawnNodes = new Map();
let drawnGroups = new Map();

function clip(text, width) {
  const most = Math.floor((width - 16) / 6.9);
  return text.length > most ? `${text.slice(0, Math.max(1, most - 1))}…` : text;
}

function draw() {
  content.replaceChildren();
  drawnEdges = [];
  drawnNodes = new Map();
  drawnGroups = new Map();
  const box = boxOf(world);
  box.x = 0;
  box.y = 0;
  content.append(drawBox(box));
  world.box = box;
  paint();
  markChosen();
}

function drawBox(box) {
  const place = drawn("g", { transform: `translate(${box.x},${box.y})`, tabindex: 0, role: "button" });
  if (typeof box.member === "number") return drawNode(place, box);
  const group = box.member;
  drawnGroups.set(group.id, place);
  place.setAttribute("class", box.isOpen ? "open" : "group");
  place.setAttribute("aria-expanded", Boolean(box.isOpen));
  place.append(drawn("rect", { class: "box", width: box.width, height: box.height, rx: 9 }));
  const toggle = () => {
    if (group === world) return;
    if (state.open.has(group.id)) state.open.delete(group.id);
    else state.open.add(group.id);
    tell("open");
  };
  if (!box.isOpen) {
    place.append(text(clip(group.label, box.width), 12, 19), text(`${group.operations.length} ${group.of ?? "operations"}`, 12, 34, "sub"));
    addMarks(place, box.width, group.operations);
    press(place, toggle);
    return place;
  }
  const bar = drawn("rect", { class: "bar", width: box.width, height: sizes.bar, rx: 9 });
  place.append(bar, text(clip(`▾ ${group.label}`, box.width), 12, 18, "sub"));
  press(bar, toggle);
  pressKey(place, toggle);
  for (const edge of box.edges) place.append(...drawEdge(edge));
  for (const inner of box.boxes) place.append(drawBox(inner));
  return place;
}

function drawNode(place, box) {
  const node = nodeOf(box.member);
  const value = data.values[node.results[0]];
  place.setAttribute("class", "node");
  place.append(
    drawn("rect", { class: "box", width: box.width, height: box.height, rx: 7 }),
    text(clip(labelOf(box.member), box.width), 12, 19),
    text(clip(value?.type ?? "", box.width - 11 * (value?.shape.length ?? 0) + 6), 12, 34, "sub"),
  );
  const swatches = drawn("g");
  place.append(swatches);
  addMarks(place, box.width, [box.member]);
  drawnNodes.set(box.member, { place, swatches, width: box.width });
  press(place, () => choose({ node: box.member }));
  return place;
}

function addMarks(place, width, operations) {
  const moves = operations.reduce((sum, each) => sum + (nodeOf(each)?.collectives.length ?? 0), 0);
  const refuses = operations.reduce((sum, each) => sum + (nodeOf(each)?.refused.length ? 1 : 0), 0);
  [["moves", moves, "collectives"], ["refuses", refuses, "operations where axes conflict"]]
    .filter(([, count]) => count)
    .forEach(([kind, count, what], index) => {
      const x = width - 8 - 20 * index;
      place.append(
        drawn("circle", { class: `mark ${kind}`, cx: x, cy: 2, r: 9 }, drawn("title", {}, `${count} ${what}`)),
        text(count > 99 ? "99+" : String(count), x, 5.5, "marked"),
      );
    });
}

function drawEdge(edge) {
  const { source, target } = edge;
  const [x1, y1] = [source.x + source.width / 2, source.y + source.height];
  const [x2, y2] = [target.x + target.width / 2, target.y];
  const bend = Math.max(18, Math.abs(y2 - y1) / 2);
  const path = `M${x1},${y1}C${x1},${y1 + bend} ${x2},${y2 - bend} ${x2},${y2}`;
  const lines = [drawn("path", { class: "edge", d: path }), drawn("path", { class: "edge second", d: path })];
  const names = edge.values.slice(0, 6).map((each) => data.values[each].name).join("\n");
  lines[0].append(drawn("title", {}, names));
  drawnEdges.push({ edge, lines });
  return lines;
}

function text(what, x, y, kind = "") {
  return drawn("text", { x, y, class: kind }, what);
}

function press(target, act) {
  target.addEventListener("click", (event) => { event.stopPropagation(); act(); });
  pressKey(target, act);
}
function pressKey(target, act) {
  target.addEventListener("keydown", (event) => {
    if (event.target !== target || !["Enter", " "].includes(event.key)) return;
    event.preventDefault();
    act();
  });
}

// The colours of all that is drawn, at the present step.
function paint() {
  for (const { edge, lines: [first, second] } of drawnEdges) {
    const axes = [...new Set(edge.values.flatMap((value) => shardingOf(value).dims.flat()).map(nameOfAxis))];
    first.setAttribute("style", axes.length ? `stroke:${hueOf(axes[0])}` : "");
    first.classList.toggle("sharded", axes.length > 0);
    second.classList.toggle("sharded", axes.length > 1);
    second.setAttribute("style", axes.length > 1 ? `stroke:${hueOf(axes[1])}` : "visibility:hidden");
  }
  for (const [number, { swatches, width }] of drawnNodes) {
    const result = nodeOf(number).results[0];
    const value = data.values[result];
    if (!value) continue;
    const sharding = shardingOf(result);
    const boxes = value.shape.map((_, dim) => sharding.dims[dim] ?? []);
    const left = width - 8 - 11 * boxes.length;
    swatches.replaceChildren(...boxes.flatMap((axes, dim) => {
      const at = { x: left + 11 * dim, y: 27, width: 9, height: 9, rx: 2 };
      const frame = drawn("rect", { ...at, style: "fill:none;stroke:var(--line)" });
      const stripes = axes.map((axis, index) => drawn("rect", {
        ...at, x: at.x + (9 / axes.length) * index, width: 9 / axes.length, style: `fill:${hueOf(axis)}`,
      }));
      return [frame, ...stripes];
    }));
  }
}

// What is drawn of an operation: itself, or the closed group that it is in.
function drawnOf(number) {
  if (drawnNodes.has(number)) return drawnNodes.get(number).place;
  for (let group = parents.get(number); group; group = group.parent) {
    if (drawnGroups.has(group.id)) return drawnGroups.get(group.id);
  }
  return null;
}

function markOnly(kind, number) {
  content.querySelectorAll(`.${kind}`).forEach((each) => each.classList.remove(kind));
  if (number !== null && number !== undefined) drawnOf(number)?.classList.add(kind);
}
function chosenNode() {
  const { chosen } = state;
  if (!chosen) return null;
  if (chosen.node !== undefined) return chosen.node;
  if (chosen.collective !== undefined) return data.collectives[chosen.collective].node;
  return makers.get(chosen.value) ?? null;
}
function markChosen() { markOnly("chosen", chosenNode()); }

function applyView() { content.setAttribute("transform", `translate(${view.x},${view.y}) scale(${view.scale})`); }
function fit() {
  const { width, height } = canvas.getBoundingClientRect();
  const { box } = world;
  view.scale = Math.min(1, (width - 40) / box.width, (height - 70) / box.height);
  view.scale = Math.max(view.scale, Math.min(0.7, (width - 40) / box.width));
  view.x = (width - box.width * view.scale) / 2;
  view.y = 16;
  applyView();
}
function zoom(factor, x, y) {
  const scale = Math.max(0.05, Math.min(3, view.scale * factor));
  view.x = x - (x - view.x) * (scale / view.scale);
  view.y = y - (y - view.y) * (scale / view.scale);
  view.scale = scale;
  applyView();
}
function centre(number) {
  const place = number === null || number === undefined ? null : drawnOf(number);
  if (!place) return;
  if (view.scale < 0.8) { view.scale = 1; applyView(); }
  const frame = canvas.getBoundingClientRect();
  const target = place.getBoundingClientRect();
  view.x += frame.x + frame.width / 2 - (target.x + target.width / 2);
  view.y += frame.y + frame.height / 2 - (target.y + target.height / 2);
  applyView();
}
