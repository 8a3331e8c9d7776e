// What happens when somebody does something.
function visit(choice) {
  choose(choice);
  const node = chosenNode();
  if (node !== null && node !== undefined) {
    reveal(node);
    centre(node);
  }
}

listeners.open.push(draw, () => showStep());
listeners.step.push(showStep, () => { if (state.chosen) showDetails(); });
listeners.choice.push(markChosen, showDetails);

document.getElementById("mesh").append(...data.axes.map(([name, size]) =>
  element("span", { class: "axis", style: `--hue:${hueOf(name)}` }, `${name} ${size}`)));
const operations = Object.keys(data.nodes).length.toLocaleString("en");
document.getElementById("totals").textContent =
  `${data.num_devices} devices · ${operations} operations · ${data.collectives.length} collectives send ${bytes(data.sent)}`;

document.getElementById("tab-values").addEventListener("click", () => showTab("values"));
document.getElementById("tab-collectives").addEventListener("click", () => showTab("collectives"));
search.addEventListener("input", look);
search.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && found.first) take(found.first);
  if (event.key === "Escape") { found.hidden = true; search.blur(); }
});
document.addEventListener("click", (event) => { if (!event.target.closest("#find")) found.hidden = true; });
document.addEventListener("keydown", (event) => {
  if (event.target.matches("input")) return;
  if (event.key === "/") { event.preventDefault(); search.focus(); search.select(); }
  if (event.key === "ArrowRight") setStep(state.step + 1);
  if (event.key === "ArrowLeft") setStep(state.step - 1);
});

slider.max = data.steps.length;
slider.addEventListener("input", () => { stop(); setStep(Number(slider.value)); });
for (const [id, act] of Object.entries({
  first: () => setStep(0), previous: () => setStep(state.step - 1), next: () => setStep(state.step + 1),
  last: () => setStep(data.steps.length), play, fit,
  "zoom-in": () => zoomMiddle(1.25), "zoom-out": () => zoomMiddle(0.8),
  "close-all": () => { state.open = new Set([world.id, world.members[0]?.id]); tell("open"); fit(); },
})) document.getElementById(id).addEventListener("click", act);

function zoomMiddle(factor) {
  const { width, height } = canvas.getBoundingClientRect();
  zoom(factor, width / 2, height / 2);
}
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  const { x, y } = canvas.getBoundingClientRect();
  if (event.ctrlKey || event.metaKey) zoom(Math.exp(-event.deltaY / 200), event.clientX - x, event.clientY - y);
  else { view.x -= event.deltaX; view.y -= event.deltaY; applyView(); }
}, { passive: false });
canvas.addEventListener("pointerdown", (event) => {
  if (event.target.closest(".node, .group, .bar")) return;
  const from = { x: event.clientX - view.x, y: event.clientY - view.y };
  canvas.classList.add("dragged");
  const move = (next) => { view.x = next.clientX - from.x; view.y = next.clientY - from.y; applyView(); };
  const end = () => { canvas.removeEventListener("pointermove", move); canvas.classList.remove("dragged"); };
  canvas.setPointerCapture(event.pointerId);
  canvas.addEventListener("pointermove", move);
  canvas.addEventListener("pointerup", end, { once: true });
});

fillValues();
fillCollectives();
draw();
fit();
showStep();
showDetails();
document.documentElement.dataset.ready = "yes";
