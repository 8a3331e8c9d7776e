// The texts below the graph. Only the lines in view are in the page, since there may be 100,000.
const LINE = 18;
const textViews = data.texts.map(({ name, text: whole, lines }) => {
  const linesOf = new Map();
  const nodesAt = new Map();
  for (const { node, line } of lines) {
    if (!linesOf.has(node)) linesOf.set(node, []);
    linesOf.get(node).push(line);
    if (!nodesAt.has(line)) nodesAt.set(line, node);
  }
  return { name, whole, lines: whole.split("\n"), linesOf, nodesAt };
});

function showText(panel, view) {
  const rows = element("div", { class: "rows", style: `height:${LINE * view.lines.length}px` });
  const scroller = element("div", { class: "text", tabindex: 0, role: "region", "aria-label": view.name }, rows);
  function fill() {
    const first = Math.max(0, Math.floor(scroller.scrollTop / LINE) - 10);
    const count = Math.ceil(scroller.clientHeight / LINE) + 20;
    const marked = new Set(chosenNodes().flatMap((node) => view.linesOf.get(node) ?? []));
    rows.replaceChildren(...view.lines.slice(first, first + count).map((line, index) => {
      const number = first + index + 1;
      const node = view.nodesAt.get(number);
      const made = element("div", { class: `line${marked.has(number) ? " marked" : ""}${node === undefined ? "" : " linked"}`, style: `top:${LINE * (number - 1)}px` },
        element("span", { class: "gutter" }, String(number)), line);
      if (node !== undefined) made.addEventListener("click", () => { if (!String(getSelection())) visit({ node }); });
      return made;
    }));
  }
  function follow() {
    const line = chosenNodes().map((node) => view.linesOf.get(node)?.[0]).find(Boolean);
    if (line !== undefined) {
      const top = LINE * (line - 1);
      if (top < scroller.scrollTop || top > scroller.scrollTop + scroller.clientHeight - LINE) scroller.scrollTop = top - scroller.clientHeight / 2;
    }
    fill();
  }
  scroller.addEventListener("scroll", fill);
  panel.replaceChildren(element("div", { class: "bar-of-text" }, copyButton(view.whole, "all")), scroller);
  dock.follow = follow;
  dock.resized = fill;
  follow();
}

// The dock: the timeline and the texts.
const dock = { place: document.getElementById("dock"), panel: document.getElementById("dock-panel"), shown: null, follow() {}, resized() {} };
function showDock(name) {
  const isClosed = name === null || name === dock.shown;
  dock.shown = isClosed ? null : name;
  dock.follow = () => {};
  dock.resized = () => {};
  dock.place.classList.toggle("closed", isClosed);
  dock.place.querySelectorAll("[role=tab]").forEach((tab) => {
    tab.setAttribute("aria-selected", !isClosed && tab.dataset.name === name);
  });
  if (isClosed) dock.panel.replaceChildren();
  else if (name === "Timeline") showTimeline(dock.panel);
  else showText(dock.panel, textViews.find((view) => view.name === name));
}
function fillDock() {
  const tabs = dock.place.querySelector("[role=tablist]");
  const names = [...(data.costs.events.length ? ["Timeline"] : []), ...textViews.map((view) => view.name)];
  tabs.append(...names.map((name) => element("button", {
    role: "tab", "aria-selected": "false", "aria-controls": "dock-panel", "data-name": name, onclick: () => showDock(name),
  }, name)));
  addTabKeys(tabs, (tab) => { if (dock.shown !== tab.dataset.name) showDock(tab.dataset.name); });
  const handle = document.getElementById("dock-handle");
  const resize = (height) => {
    dock.place.style.setProperty("--height", `${Math.max(90, Math.min(innerHeight * 0.75, height))}px`);
    dock.resized();
  };
  handle.addEventListener("pointerdown", (event) => {
    const [from, height] = [event.clientY, dock.panel.clientHeight];
    const move = (next) => resize(height + from - next.clientY);
    handle.setPointerCapture(event.pointerId);
    handle.addEventListener("pointermove", move);
    handle.addEventListener("pointerup", () => handle.removeEventListener("pointermove", move), { once: true });
  });
  handle.addEventListener("keydown", (event) => {
    const step = { ArrowUp: 40, ArrowDown: -40 }[event.key];
    if (!step) return;
    event.preventDefault();
    resize(dock.panel.clientHeight + step);
  });
  if (matchMedia("(min-width: 1000px) and (min-height: 800px)").matches && names.includes("Timeline")) showDock("Timeline");
}
