// The estimated timeline: computation, the lanes of links, and the memory of a device over the same time.
const TRACKS = { computation: 20, next: 26, rest: 20 };

function showTimeline(panel) {
  const { events, lanes, memory, estimate, capacity } = data.costs;
  const end = 1e6 * estimate.predicted;
  const trackOf = (row) => TRACKS.computation + TRACKS.next * row;
  const rowsOf = (event) => (event.lanes.length ? event.lanes.map((lane) => lane + 1) : [0]);
  const memoryTop = trackOf(Math.max(lanes.length, 1) + 1) + 4;
  const shown = { from: 0, to: end };
  const surface = element("canvas", { tabindex: 0, role: "img", "aria-label":
    `Estimated timeline: ${time(estimate.compute_seconds)} of computation and ${time(estimate.exposed)} of exposed collectives; peak memory ${bytes(estimate.peak_bytes)}` });
  const tip = element("div", { class: "tip", hidden: "" });
  panel.replaceChildren(element("div", { class: "timeline" }, surface, tip));
  const colors = getComputedStyle(document.documentElement);
  const color = (name) => colors.getPropertyValue(name).trim();
  const most = Math.max(1, ...memory.map((point) => point.nbytes));

  const xOf = (at) => ((at - shown.from) / (shown.to - shown.from)) * surface.clientWidth;
  const atOf = (x) => shown.from + (x / surface.clientWidth) * (shown.to - shown.from);
  const colorOf = (event) => (event.collective === null ? color("--accent") : hueOf(data.collectives[event.collective].axes[0] ?? ""));

  function paintTimeline() {
    const scale = devicePixelRatio;
    const [width, height] = [surface.clientWidth, surface.clientHeight];
    Object.assign(surface, { width: width * scale, height: height * scale });
    const pen = surface.getContext("2d");
    pen.scale(scale, scale);
    pen.font = "11px system-ui, sans-serif";
    const nodes = new Set(chosenNodes());
    const collective = state.chosen?.collective;
    const used = [-1, ...lanes.map(() => -1)];
    for (const event of events) {
      if (event.is_loop) continue;
      const [x, right] = [xOf(event.start), xOf(event.start + event.duration)];
      const isChosen = collective === undefined ? event.node !== null && nodes.has(event.node) : event.collective === collective;
      for (const row of rowsOf(event)) {
        if (right < 0 || x > width || (right <= used[row] && !isChosen)) continue;
        used[row] = Math.max(right, x + 1);
        pen.fillStyle = isChosen ? color("--warn") : colorOf(event);
        const y = trackOf(row);
        pen.fillRect(x, isChosen ? y - 3 : y, Math.max(isChosen ? 3 : 1, right - x - (right - x > 4 ? 0.5 : 0)), TRACKS.rest + (isChosen ? 6 : 0));
        if (right - x > 46) {
          pen.fillStyle = "#fff";
          pen.save();
          pen.beginPath();
          pen.rect(x, y, right - x - 4, TRACKS.rest);
          pen.clip();
          pen.fillText(event.name, Math.max(4, x + 4), y + 14);
          pen.restore();
        }
      }
    }
    paintMemory(pen, width, height);
    pen.fillStyle = color("--soft");
    pen.fillText(`${time(shown.from / 1e6)} to ${time(shown.to / 1e6)}, from above: computation${lanes.length ? `, collectives on ${lanes.join(", ")}` : ""}`, 4, 13);
    pen.fillText(`memory: peak ${bytes(most)} of ${bytes(capacity)}`, 4, memoryTop + 12);
  }
  function paintMemory(pen, width, height) {
    const floor = height - 2;
    const room = floor - memoryTop - 18;
    if (room < 6 || !memory.length) return;
    pen.beginPath();
    pen.moveTo(xOf(memory[0].start), floor);
    let y = floor;
    for (const point of memory) {
      pen.lineTo(xOf(point.start), y);
      y = floor - (room * point.nbytes) / most;
      pen.lineTo(xOf(point.start), y);
    }
    pen.lineTo(xOf(end), y);
    pen.lineTo(xOf(end), floor);
    pen.closePath();
    pen.globalAlpha = 0.28;
    pen.fillStyle = color("--accent");
    pen.fill();
    pen.globalAlpha = 1;
    pen.strokeStyle = color("--accent");
    pen.stroke();
    pen.clearRect(0, floor + 1, width, 3);
  }
  function eventAt(mouse) {
    const { x, y } = surface.getBoundingClientRect();
    const [at, below] = [atOf(mouse.clientX - x), mouse.clientY - y];
    const slack = (2 * (shown.to - shown.from)) / surface.clientWidth;
    const row = Math.floor((below + 3 - TRACKS.computation) / TRACKS.next);
    return events.find((event) => !event.is_loop && rowsOf(event).includes(row)
      && at >= event.start - slack && at <= event.start + event.duration + slack) ?? null;
  }
  function look(mouse) {
    const event = eventAt(mouse);
    tip.hidden = !event;
    surface.style.cursor = event ? "pointer" : "grab";
    if (!event) return;
    const one = event.collective === null ? null : data.collectives[event.collective];
    const sent = one ? `, sends ${bytes(one.nbytes)}${one.exposed_because ? `; exposed ${time(one.exposed)}: ${one.exposed_because}` : ""}` : "";
    const place = event.node === null ? "" : ` (${shownPlace(data.nodes[event.node]?.place)})`;
    tip.textContent = `${event.name}${place}: ${time(event.duration / 1e6)}${event.times > 1 ? ` in ${event.times} executions` : ""}${sent}`;
    tip.style.left = `${Math.min(mouse.offsetX + 12, surface.clientWidth - 260)}px`;
  }
  function move(from, to) {
    const span = Math.min(end, Math.max(end / 1e5, to - from));
    shown.from = Math.max(0, Math.min(end - span, from));
    shown.to = shown.from + span;
    paintTimeline();
  }
  function zoomTime(factor, x) {
    const at = atOf(x);
    move(at - (at - shown.from) * factor, at + (shown.to - at) * factor);
  }
  surface.addEventListener("wheel", (event) => {
    event.preventDefault();
    if (event.deltaX && !event.ctrlKey) move(shown.from + (event.deltaX / surface.clientWidth) * (shown.to - shown.from), shown.to + (event.deltaX / surface.clientWidth) * (shown.to - shown.from));
    else zoomTime(Math.exp(event.deltaY / 300), event.offsetX);
  }, { passive: false });
  surface.addEventListener("keydown", (event) => {
    const span = shown.to - shown.from;
    const act = {
      "+": () => zoomTime(0.7, surface.clientWidth / 2), "-": () => zoomTime(1.4, surface.clientWidth / 2),
      ArrowLeft: () => move(shown.from - span / 5, shown.to - span / 5), ArrowRight: () => move(shown.from + span / 5, shown.to + span / 5),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  });
  surface.addEventListener("pointermove", (event) => {
    if (event.buttons) {
      const shift = (event.movementX / surface.clientWidth) * (shown.to - shown.from);
      move(shown.from - shift, shown.to - shift);
    } else look(event);
  });
  surface.addEventListener("pointerleave", () => { tip.hidden = true; });
  surface.addEventListener("click", (mouse) => {
    const event = eventAt(mouse);
    if (event?.collective !== null && event?.collective !== undefined) visit({ collective: event.collective });
    else if (event && event.node !== null) visit({ node: event.node });
  });
  dock.follow = paintTimeline;
  dock.resized = paintTimeline;
  paintTimeline();
}
