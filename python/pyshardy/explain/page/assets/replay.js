// The replay of propagation, step by step.
const slider = document.getElementById("step");
const stepText = document.getElementById("told");
let timer = null;

function showStep() {
  slider.value = state.step;
  paint();
  const count = data.steps.length;
  if (!count) stepText.textContent = "Propagation changed nothing.";
  else if (state.step === 0) stepText.textContent = `Before propagation: annotations only. ${count.toLocaleString("en")} steps follow.`;
  else {
    const words = gainsOf(state.step - 1).map((gain) => gain.text).join("; ") || `step ${state.step - 1}`;
    stepText.textContent = `${state.step} of ${count} · ${words.replace(/^step \d+: /, "")}`;
  }
  stepText.title = stepText.textContent;
  const isBetween = state.step > 0 && state.step < count;
  markOnly("stepped", (pane) => (isBetween ? [drawnOf(data.steps[state.step - 1].node, pane)] : []));
}

// Without motion, Play shows the last step at once.
function play() {
  if (timer !== null) { stop(); return; }
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) { setStep(data.steps.length); return; }
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
