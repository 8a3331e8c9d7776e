// The part of the graph that is in view: dragged, scrolled and zoomed.
const view = { x: 0, y: 0, scale: 1 };
const MOST_OPEN = 800;

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

function centre(number) {
  const place = number === null || number === undefined ? null : drawnOf(number);
  if (!place) return;
  if (view.scale < 0.8) {
    view.scale = 1;
    applyView();
  }
  const frame = canvas.getBoundingClientRect();
  const target = place.getBoundingClientRect();
  view.x += frame.x + frame.width / 2 - (target.x + target.width / 2);
  view.y += frame.y + frame.height / 2 - (target.y + target.height / 2);
  applyView();
}

// Open groups from the outside in, as long as the browser can draw what they contain.
function openAll() {
  let count = 0;
  let level = [world];
  while (level.length) {
    count += level.reduce((sum, group) => sum + group.members.length, 0);
    if (count > MOST_OPEN) break;
    level.forEach((group) => state.open.add(group.id));
    level = level.flatMap((group) => group.members.filter((member) => typeof member !== "number"));
  }
  tell("open");
  fit();
  if (level.length) announce(`Opened ${MOST_OPEN.toLocaleString("en")} boxes; the other groups stay closed.`);
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
  fit();
}
