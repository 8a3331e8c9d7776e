// One colour for each axis of the mesh; parts of an axis have its colour.
const palette = ["#3b7dd8", "#e0862d", "#3f9d5c", "#b553b8", "#c9a227", "#d1495b", "#2a9d9d", "#7a6ff0"];
const hues = new Map(data.axes.map(([name], index) => [name, palette[index % palette.length]]));

function nameOfAxis(axis) { return axis.startsWith('"') ? axis.split('"')[1] : axis; }
function hueOf(axis) { return hues.get(nameOfAxis(axis)) ?? "var(--none)"; }

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "onclick") made.addEventListener("click", value);
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

function drawn(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// A small box for each dimension, in the colours of its axes.
function dimsOf(sharding, rank) {
  const boxes = [];
  for (let dim = 0; dim < rank; dim += 1) {
    const axes = sharding.dims[dim] ?? [];
    const stripes = axes.map((axis) => element("i", { style: `--hue:${hueOf(axis)}`, title: axis }));
    boxes.push(element("span", { class: "dim", title: axes.join(", ") || "whole" }, ...stripes));
  }
  return element("span", { class: "dims" }, ...boxes);
}

function bytes(number) {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let unit = 0;
  while (number >= 10000 && unit < units.length - 1) { number /= 1024; unit += 1; }
  return `${number < 10 && unit ? number.toFixed(1) : Math.round(number).toLocaleString("en")} ${units[unit]}`;
}
