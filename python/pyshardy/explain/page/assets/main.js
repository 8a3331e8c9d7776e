// What happens when somebody does something.
const announcer = document.getElementById("announcer");
let announced = null;
function announce(what) {
  announcer.textContent = what;
  clearTimeout(announced);
  announced = setTimeout(() => { announcer.textContent = ""; }, 8000);
}

function visit(choice) {
  choose(choice);
  reveal(choice.group === undefined ? { node: chosenNode() } : choice);
  centre(drawnChoice());
}

// The link to what is chosen: `#value=12`, `#operation=7`, `#collective=3`, `#group=5`; values also
// by name.
function hashOf({ value, node, collective, group }) {
  if (value !== undefined) return `#value=${value}`;
  if (group !== undefined) return `#group=${group}`;
  return node === undefined ? `#collective=${collective}` : `#operation=${node}`;
}
function decoded(hash) {
  try { return decodeURIComponent(hash); } catch { return hash; } // `#value=%arg8`, as somebody types it
}
function choiceOf(hash) {
  const [, kind, word] = /^#(value|operation|collective|group)=(.*)$/.exec(decoded(hash)) ?? [];
  if (!kind) return null;
  const number = /^\d+$/.test(word) ? Number(word) : kind === "value" ? data.valueList.find((value) => shownName(value.number) === word || value.name === word)?.number : null;
  if (kind === "value") return data.values[number] ? { value: number } : null;
  if (kind === "operation") return data.nodes[number] ? { node: number } : null;
  if (kind === "group") return groups[number] ? { group: number } : null;
  return data.collectives[number] ? { collective: number } : null;
}
function followHash() {
  const choice = choiceOf(location.hash);
  if (choice && hashOf(choice) !== (state.chosen && hashOf(state.chosen))) visit(choice);
}
function rememberChoice() {
  const hash = hashOf(state.chosen);
  if (location.hash !== hash) history.pushState(null, "", hash);
}

function markRows() {
  document.querySelectorAll("#lists tr.chosen").forEach((row) => row.classList.remove("chosen"));
  const { value, collective, node, group } = state.chosen;
  if (node !== undefined || group !== undefined) return;
  const panel = value === undefined ? "collectives" : "values";
  document.querySelectorAll(`#${panel} tr[data-row="${value ?? collective}"]`).forEach((row) => row.classList.add("chosen"));
}

listeners.open.push(draw, () => showStep(), markHits, () => { if (state.chosen?.group !== undefined) showDetails(); });
listeners.step.push(showStep, () => { if (state.chosen) showDetails(); });
listeners.choice.push(rememberChoice, markChosen, markRows, showDetails, () => dock.follow());
window.addEventListener("hashchange", followHash);
window.addEventListener("popstate", followHash);
window.addEventListener("resize", () => dock.resized());

document.getElementById("mesh").append(...data.axes.map(([name, size]) => axisChip(name, ` ${size}`)));
document.getElementById("totals").textContent = `${data.num_devices} devices · ${data.nodeList.length.toLocaleString("en")} operations · `
  + `${data.collectives.length.toLocaleString("en")} collectives send ${bytes(data.sent)} · `
  + `${time(data.costs.estimate.predicted)} on ${data.costs.estimate.hardware}`;

for (const name of TABS) document.getElementById(`tab-${name}`).addEventListener("click", () => showTab(name));
addTabKeys(document.querySelector("#lists [role=tablist]"), (tab) => showTab(tab.id.replace("tab-", "")));
document.addEventListener("keydown", (event) => {
  if (event.target.matches("input, textarea")) return;
  if (event.key === "/") { event.preventDefault(); search.focus(); search.select(); }
  if (event.key === "ArrowRight") setStep(state.step + 1);
  if (event.key === "ArrowLeft") setStep(state.step - 1);
});

slider.max = data.steps.length;
slider.addEventListener("input", () => { stop(); setStep(Number(slider.value)); });
for (const [id, act] of Object.entries({
  first: () => setStep(0), previous: () => setStep(state.step - 1), next: () => setStep(state.step + 1),
  last: () => setStep(data.steps.length), play, fit,
  "zoom-in": () => zoomMiddle(1.25), "zoom-out": () => zoomMiddle(0.8), "open-level": () => openLevel(), "open-all": () => openAll(),
  "close-all": () => changeOpen(openWorld),
  "save-svg": () => download("graph.svg", "image/svg+xml", svgText()),
})) document.getElementById(id).addEventListener("click", act);

document.getElementById("beside")?.addEventListener("click", ({ currentTarget }) => showBeside(currentTarget.getAttribute("aria-pressed") !== "true"));

fillValues();
fillCollectives();
fillCosts();
fillCompare();
fillDock();
draw();
home();
showStep();
showDetails();
followHash();
document.documentElement.dataset.ready = "yes";
