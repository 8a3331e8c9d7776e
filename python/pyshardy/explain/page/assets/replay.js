// The replay of propagation, step by step.
const slider = document.getElementById("step");
const told = document.getElementById("told");
let timer = null;

function showStep() {
  slider.value = state.step;
  paint();
  const count = data.steps.length;
  if (!count) told.textContent = "Propagation changed nothing.";
  else if (state.step === 0) told.textContent = `Before propagation: annotations only. ${count} steps follow.`;
  else {
    const step = data.steps[state.step - 1];
    const words = step.flows.map((flow) => flow.told).join("; ") || `step ${state.step - 1}`;
    told.textContent = `${state.step} of ${count} · ${words.replace(/^step \d+: /, "")}`;
  }
  told.title = told.textContent;
  const isBetween = state.step > 0 && state.step < count;
  markOnly("stepped", isBetween ? data.steps[state.step - 1].node : null);
}

function play() {
  if (timer !== null) { stop(); return; }
  if (state.step === data.steps.length) setStep(0);
  document.getElementById("play").textContent = "Pause";
  const stride = Math.max(1, Math.round(data.steps.length / 240));
  timer = setInterval(() => {
    setStep(state.step + stride);
    if (state.step === data.steps.length) stop();
  }, 120);
}
function stop() {
  clearInterval(timer);
  timer = null;
  document.getElementById("play").textContent = "Play";
}
