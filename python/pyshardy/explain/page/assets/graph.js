// The graph as SVG. A step of the replay changes colors only; opening a group draws it anew.
//
// Each pane draws the same operations at the same places: the first one with the shardings and
// collectives of this plan, the second one with those of the plan that it is compared with.
const plans = [
  {
    shardingOf,
    countCollectives: (number) => nodeOf(number).collectives.length,
    isRefused: (number) => nodeOf(number).refused.length > 0,
  },
  {
    shardingOf: (value) => value in data.other.shardings ? data.shardings[data.other.shardings[value]] : finalSharding(value),
    countCollectives: (number) => data.other.collectives_at[number] ?? 0,
    isRefused: () => false,
  },
];
const panes = [...document.querySelectorAll("svg.canvas")].map((canvas, index) => {
  const content = drawn("g", { id: `content-${index}` });
  const moved = drawn("g");
  moved.append(content);
  canvas.append(moved);
  return { canvas, moved, content, plan: plans[index], edges: [], nodes: new Map(), groups: new Map() };
});
const [{ canvas, content }] = panes;

function clip(text, width, letter = 6.9) {
  const most = Math.floor((width - 16) / letter);
  return text.length > most ? `${text.slice(0, Math.max(1, most - 1))}…` : text;
}

function draw() {
  const focused = document.activeElement?.dataset?.member;
  const home = panes.find((pane) => pane.content.contains(document.activeElement));
  const box = boxOf(world);
  Object.assign(box, { x: 0, y: 0 });
  world.box = box;
  for (const pane of panes) {
    Object.assign(pane, { edges: [], nodes: new Map(), groups: new Map() });
    pane.content.replaceChildren(drawBox(pane, box));
  }
  paint();
  markChosen();
  if (focused) home?.content.querySelector(`[data-member="${focused}"]`)?.focus({ preventScroll: true });
}

function drawBox(pane, box) {
  const place = drawn("g", { transform: `translate(${box.x},${box.y})` });
  if (typeof box.member === "number") return drawNode(pane, place, box);
  const group = box.member;
  pane.groups.set(group.id, place);
  place.dataset.member = `group ${group.id}`;
  if (group !== world) {
    const count = `${group.operations.length} ${group.of ?? "operations"}`;
    const copies = group.copies > 1 ? `, ${group.copies} equal parts` : "";
    Object.entries({
      tabindex: 0, role: "button", "aria-expanded": Boolean(box.isOpen),
      "aria-label": `group ${group.label}, ${count}${copies}${markedText(pane, group.operations)}`,
    }).forEach(([name, value]) => place.setAttribute(name, value));
  }
  place.setAttribute("class", group === world ? "world" : box.isOpen ? "open" : "group");
  if (box.isOpen) drawOpen(pane, place, box);
  else drawClosed(pane, place, box);
  return place;
}

function drawClosed(pane, place, box) {
  const { member: group, width, height } = box;
  if (group.copies > 1) {
    for (const shift of [6, 3]) place.append(drawn("rect", { class: "box", x: shift, y: shift, width, height, rx: 9 }));
  }
  place.append(drawn("rect", { class: "box", width, height, rx: 9 }));
  const room = width - (group.copies > 1 ? 44 : 0);
  place.append(opener(group, "▸"), text(clip(labelOf(group), room - 14), 24, 19), text(clip(countOf(group), width - 14, 6), 24, 35, "sub"),
    drawn("title", {}, `${labelOf(group)}: select it by a click, open it by a double click or ▸`));
  if (group.copies > 1) place.append(text(`×${group.copies}`, width - 12, 20, "copies"));
  addMarks(pane, place, width, group.operations);
  pressGroup(place, place, group);
}

// A click on a group selects it; ▸, a double click and the keyboard open it too.
function opener(group, sign) {
  const made = drawn("g", { class: "opener" }, drawn("rect", { width: 24, height: sizes.bar }), text(sign, 8, 18, "sub"));
  made.addEventListener("click", (event) => { event.stopPropagation(); toggle(group); });
  return made;
}
function pressGroup(surface, place, group) {
  surface.addEventListener("click", (event) => { event.stopPropagation(); choose({ group: group.id }); });
  surface.addEventListener("dblclick", (event) => { event.stopPropagation(); toggle(group); });
  pressKey(place, () => { choose({ group: group.id }); toggle(group); });
}

function drawOpen(pane, place, box) {
  const { member: group, width, height } = box;
  if (group !== world) {
    place.append(drawn("rect", { class: "box", width, height, rx: 9 }));
    const bar = drawn("rect", { class: "bar", width, height: sizes.bar, rx: 9 });
    const title = `${labelOf(group)}${group.copies > 1 ? ` ×${group.copies}` : ""}`;
    place.append(bar, opener(group, "▾"), text(clip(title, width - 14), 24, 18, "sub"));
    pressGroup(bar, place, group);
  }
  for (const edge of box.edges) place.append(...drawEdge(pane, edge));
  for (const inner of box.boxes) place.append(drawBox(pane, inner));
}

function drawNode(pane, place, box) {
  const node = nodeOf(box.member);
  const value = data.values[node.results[0]];
  place.setAttribute("class", "node");
  place.dataset.member = box.member;
  place.setAttribute("tabindex", 0);
  place.setAttribute("role", "button");
  place.append(
    drawn("rect", { class: "box", width: box.width, height: box.height, rx: 7 }),
    text(clip(labelOf(box.member), box.width), 12, 19),
    text(clip(value?.type ?? "", box.width - 14 * (value?.shape.length ?? 0) + 4), 12, 36, "sub"),
  );
  const swatches = drawn("g", { "aria-hidden": true });
  place.append(swatches);
  addMarks(pane, place, box.width, [box.member]);
  pane.nodes.set(box.member, { place, swatches, width: box.width });
  press(place, () => choose(box.member < 0 ? { value: -box.member } : { node: box.member }));
  return place;
}

// Badges: round with the number of collectives, pointed with that of conflicts, square with that of
// values that the other plan shards differently.
function marksOf({ plan }, operations) {
  const differs = data.other?.shardings ?? {};
  return [
    { kind: "moves", count: operations.reduce((sum, each) => sum + plan.countCollectives(each), 0), what: "collectives" },
    { kind: "refuses", count: operations.filter(plan.isRefused).length, what: "operations with refused axes" },
    { kind: "differs", count: operations.filter((each) => nodeOf(each).results.some((result) => result in differs)).length, what: "sharded differently in the other plan" },
  ].filter(({ count }) => count);
}
function markedText(pane, operations) {
  return marksOf(pane, operations).map(({ count, what }) => `, ${count} ${what}`).join("");
}
function addMarks(pane, place, width, operations) {
  let right = width - 2;
  for (const { kind, count, what } of marksOf(pane, operations)) {
    const shown = count > 999 ? `${(count / 1000).toFixed(count < 9950 ? 1 : 0)}k` : String(count);
    const shape = markShape(kind, right, 11 + 6 * shown.length);
    shape.append(drawn("title", {}, `${count.toLocaleString("en")} ${what}`));
    place.append(shape, text(shown, right - (11 + 6 * shown.length) / 2, 5.5, "marked"));
    right -= 14 + 6 * shown.length;
  }
}
function markShape(kind, right, width) {
  if (kind !== "refuses") return drawn("rect", { class: `mark ${kind}`, x: right - width, y: -6.5, width, height: 17, rx: kind === "moves" ? 8.5 : 2 });
  const left = right - width;
  return drawn("path", { class: `mark ${kind}`, d: `M${left - 2},2L${left + 6},-6.5H${right - 6}L${right + 2},2L${right - 6},10.5H${left + 6}Z` });
}

function pathOf(points) {
  const [first, ...rest] = points;
  const last = rest.pop();
  let path = `M${first}`;
  rest.forEach((point, index) => {
    const next = rest[index + 1] ?? last;
    path += `Q${point} ${[(point[0] + next[0]) / 2, (point[1] + next[1]) / 2]}`;
  });
  return `${path}L${last}`;
}

function drawEdge(pane, edge) {
  const path = pathOf(edge.points);
  const lines = [drawn("path", { class: "edge", d: path }), drawn("path", { class: "edge second", d: path })];
  const names = edge.values.slice(0, 6).map((each) => `${data.values[each].name}: ${data.values[each].type}`).join("\n");
  lines[0].append(drawn("title", {}, names));
  pane.edges.push({ edge, lines });
  return lines;
}

function text(what, x, y, kind = "") { return drawn("text", { x, y, class: kind }, what); }

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

// The colors of all that is drawn, at the present step.
function paint() { panes.forEach(paintPane); }
function paintPane(pane) {
  const { plan } = pane;
  for (const { edge, lines: [first, second] } of pane.edges) {
    const axes = [...new Set(edge.values.flatMap((value) => plan.shardingOf(value).dims.flat()).map(nameOfAxis))];
    first.setAttribute("style", axes.length ? `stroke:${hueOf(axes[0])}` : "");
    first.classList.toggle("sharded", axes.length > 0);
    second.classList.toggle("sharded", axes.length > 1);
    second.setAttribute("style", axes.length > 1 ? `stroke:${hueOf(axes[1])}` : "visibility:hidden");
  }
  for (const [number, { place, swatches, width }] of pane.nodes) {
    const result = nodeOf(number).results[0];
    const value = data.values[result];
    const shown = value ? told(plan.shardingOf(result), value.shape.length) : "";
    place.setAttribute("aria-label", `${labelOf(number)} ${value?.type ?? ""}${shown ? `, sharded: ${shown}` : ""}${markedText(pane, [number])}`);
    if (value) swatches.replaceChildren(...swatchesOf(value, plan.shardingOf(result), width));
  }
}

function swatchesOf(value, sharding, width) {
  const left = width - 9 - 14 * value.shape.length;
  return value.shape.flatMap((_, dim) => {
    const axes = sharding.dims[dim] ?? [];
    const at = { x: left + 14 * dim, y: 27, width: 12, height: 12, rx: 2.5 };
    const share = 12 / Math.max(1, axes.length);
    return [
      drawn("rect", { ...at, class: "swatch" }),
      ...axes.flatMap((axis, index) => [
        drawn("rect", { ...at, x: at.x + share * index, width: share, style: `fill:${hueOf(axis)}` }),
        text(letterOf(axis), at.x + share * (index + 0.5), 36, "letter"),
      ]),
    ];
  });
}

// What a pane draws of an operation or a group: itself, or the closed group that it is in.
function drawnOf(number, pane = panes[0]) {
  return pane.nodes.get(number)?.place ?? drawnGroup(parents.get(number), pane);
}
function drawnGroup(group, pane = panes[0]) {
  while (group && !pane.groups.has(group.id)) group = group.parent;
  return group ? pane.groups.get(group.id) : null;
}
function drawnChoice(pane = panes[0]) {
  if (!state.chosen) return null;
  return state.chosen.group === undefined ? drawnOf(chosenNode(), pane) : drawnGroup(groups[state.chosen.group], pane);
}

function markOnly(kind, find) {
  for (const pane of panes) {
    pane.content.querySelectorAll(`.${kind}`).forEach((each) => each.classList.remove(kind));
    for (const place of find(pane)) place?.classList.add(kind);
  }
}
function markChosen() { markOnly("chosen", (pane) => [drawnChoice(pane)]); }
