// The part of the graph that is in view: dragged, scrolled and zoomed.
const view = { x: 0, y: 0, scale: 1 };
const MOST_OPEN = 1500;
const LEGIBLE = 0.75;

function applyView() {
  const transform = `translate(${view.x},${view.y}) scale(${view.scale})`;
  panes.forEach((pane) => pane.moved.setAttribute("transform", transform));
  frameMinimap();
}

function fit() {
  const { width, height } = canvas.getBoundingClientRect();
  const { box } = world;
  view.scale = Math.max(0.02, Math.min(1, (width - 32) / box.width, (height - 60) / box.height));
  view.x = (width - box.width * view.scale) / 2;
  const top = panes.length > 1 ? 32 : 8; // below the captions
  view.y = Math.max(top, Math.min(2 * top, (height - box.height * view.scale) / 2));
  applyView();
}

// All of the graph if it can be read, else what is chosen or the first collective.
function home() {
  fit();
  if (view.scale < LEGIBLE) centre(drawnChoice() ?? drawnOf(data.collectives[firstCollective]?.node) ?? drawnOf(parents.keys().next().value));
}

function zoom(factor, x, y) {
  const scale = Math.max(0.02, Math.min(3, view.scale * factor));
  view.x = x - (x - view.x) * (scale / view.scale);
  view.y = y - (y - view.y) * (scale / view.scale);
  view.scale = scale;
  applyView();
}
function zoomMiddle(factor) {
  const { width, height } = canvas.getBoundingClientRect();
  zoom(factor, width / 2, height / 2);
}

// Move to what is drawn, without space beside the graph that it could fill.
function centre(place) {
  if (!place) return;
  if (view.scale < 0.8) {
    view.scale = 1;
    applyView();
  }
  const frame = canvas.getBoundingClientRect();
  const target = place.getBoundingClientRect();
  // Of an open group that is larger than the window, the beginning.
  const middle = (from, size, all) => from + Math.min(size, all) / 2;
  view.x += frame.x + frame.width / 2 - middle(target.x, target.width, frame.width);
  view.y += frame.y + frame.height / 2 - middle(target.y, target.height, frame.height);
  const within = (at, size, all) => (size <= all ? (all - size) / 2 : Math.max(all - size, Math.min(0, at)));
  const { box } = world;
  view.x = within(view.x - 16, box.width * view.scale, frame.width - 32) + 16;
  view.y = within(view.y - 32, box.height * view.scale, frame.height - 92) + 32;
  applyView();
}

// Open or close groups while what is drawn of a group stays where it is.
function changeOpen(change, group = null) {
  const before = group && drawnGroup(group).getBoundingClientRect();
  change();
  tell("open");
  if (!group) return home();
  const after = drawnGroup(group).getBoundingClientRect();
  view.x += before.x - after.x;
  view.y += before.y - after.y;
  applyView();
}
function toggle(group) {
  changeOpen(() => { if (!state.open.delete(group.id)) state.open.add(group.id); }, group);
}

// Open the groups that are drawn in a group, itself first.
function openLevel(top = world) {
  const closed = [...shownGroups(top)].filter((group) => !state.open.has(group.id));
  const count = countBoxes() + closed.reduce((sum, group) => sum + group.members.length, 0);
  if (!closed.length) announce("All is open");
  else if (count > MOST_OPEN) announce(`Too many to open: ${count.toLocaleString("en")} boxes. Select a group to open it.`);
  else changeOpen(() => closed.forEach((group) => state.open.add(group.id)), top === world ? null : top);
}
function openAll(top = world) {
  const inside = groups.filter((group) => { while (group && group !== top) group = group.parent; return group; });
  const count = countBoxes() + inside.reduce((sum, group) => sum + (state.open.has(group.id) ? 0 : group.members.length), 0);
  const shown = top === world ? data.nodeList.length : top.operations.length;
  if (count > MOST_OPEN) announce(`Too many to open: ${shown.toLocaleString("en")} ${top.of ?? "operations"}. Open one level, or a group.`);
  else changeOpen(() => inside.forEach((group) => state.open.add(group.id)), top === world ? null : top);
}

// Paper has another size than the window: all of the graph is printed.
window.addEventListener("beforeprint", () => {
  const { box } = world;
  for (const pane of panes) {
    pane.canvas.setAttribute("viewBox", `-8 -8 ${box.width + 24} ${box.height + 24}`);
    pane.moved.removeAttribute("transform");
  }
});
window.addEventListener("afterprint", () => {
  panes.forEach((pane) => pane.canvas.removeAttribute("viewBox"));
  applyView();
});

function scroll(event) {
  event.preventDefault();
  const { x, y } = event.currentTarget.getBoundingClientRect();
  if (event.ctrlKey || event.metaKey) zoom(Math.exp(-event.deltaY / 200), event.clientX - x, event.clientY - y);
  else {
    view.x -= event.deltaX;
    view.y -= event.deltaY;
    applyView();
  }
}
function drag(event) {
  if (event.target.closest(".node, .group, .bar")) return;
  const surface = event.currentTarget;
  const from = { x: event.clientX - view.x, y: event.clientY - view.y };
  surface.classList.add("dragged");
  const move = (next) => {
    view.x = next.clientX - from.x;
    view.y = next.clientY - from.y;
    applyView();
  };
  const end = () => {
    surface.removeEventListener("pointermove", move);
    surface.classList.remove("dragged");
  };
  surface.setPointerCapture(event.pointerId);
  surface.addEventListener("pointermove", move);
  surface.addEventListener("pointerup", end, { once: true });
}
for (const pane of panes) {
  pane.canvas.addEventListener("wheel", scroll, { passive: false });
  pane.canvas.addEventListener("pointerdown", drag);
}

// The second pane is beside the first one, or hidden.
function showBeside(isShown) {
  const button = document.getElementById("beside");
  if (!button) return;
  button.setAttribute("aria-pressed", isShown);
  document.getElementById("panes").classList.toggle("single", !isShown);
  home();
}
