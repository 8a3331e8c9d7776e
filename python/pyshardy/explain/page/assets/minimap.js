// All of the graph, small, with the part in view; hidden while everything is in view.
const minimap = document.getElementById("minimap");
const frame = drawn("rect", { class: "frame" });
minimap.append(drawn("use", { href: "#content-0" }), frame);

// The part of the graph in view, in the units of the graph.
function frameMinimap() {
  const { width, height } = canvas.getBoundingClientRect();
  const { box } = world;
  const part = { x: -view.x / view.scale, y: -view.y / view.scale, width: width / view.scale, height: height / view.scale };
  const isAll = part.x <= 0 && part.y <= 0 && part.x + part.width >= box.width && part.y + part.height >= box.height;
  minimap.toggleAttribute("hidden", isAll);
  minimap.setAttribute("viewBox", `0 0 ${box.width} ${box.height}`);
  frame.setAttribute("stroke-width", Math.max(box.width / 160, box.height / 120) * 1.5);
  for (const [name, value] of Object.entries(part)) frame.setAttribute(name, value);
}

function moveTo(event) {
  const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(minimap.getScreenCTM().inverse());
  const { width, height } = canvas.getBoundingClientRect();
  view.x = width / 2 - point.x * view.scale;
  view.y = height / 2 - point.y * view.scale;
  applyView();
}
minimap.addEventListener("pointerdown", (event) => { minimap.setPointerCapture(event.pointerId); moveTo(event); });
minimap.addEventListener("pointermove", (event) => { if (minimap.hasPointerCapture(event.pointerId)) moveTo(event); });
