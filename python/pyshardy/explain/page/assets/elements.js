// Elements of the page, and one color and letter for each axis of the mesh.
const palette = ["#3272c8", "#b8600b", "#2f8049", "#a042a5", "#8a6d00", "#c23a50", "#147f7f", "#665bdb"];
const hues = new Map(data.axes.map(([name], index) => [name, palette[index % palette.length]]));
const letters = new Map(data.axes.map(([name], index) => {
  const isOwn = data.axes.filter(([other]) => other[0] === name[0]).length === 1;
  return [name, isOwn ? name[0] : String(index + 1)];
}));

function nameOfAxis(axis) { return axis.startsWith('"') ? axis.split('"')[1] : axis; }
function hueOf(axis) { return hues.get(nameOfAxis(axis)) ?? "var(--none)"; }
function letterOf(axis) { return letters.get(nameOfAxis(axis)) ?? "?"; }

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "onclick") made.addEventListener("click", value);
    else if (value !== null && value !== undefined) made.setAttribute(name, value);
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

function axisChip(axis, ...more) {
  return element("span", { class: "axis", style: `--hue:${hueOf(axis)}` }, element("i", {}, letterOf(axis)), axis, ...more);
}

function told(sharding, rank) {
  return Array.from({ length: rank }, (_, dim) => (sharding.dims[dim] ?? []).join(" and ") || "whole").join(", ");
}

// A small box for each dimension, with the letters and colors of its axes; empty if it is whole.
function dimsOf(sharding, rank) {
  const boxes = Array.from({ length: rank }, (_, dim) => {
    const axes = sharding.dims[dim] ?? [];
    const stripes = axes.map((axis) => element("i", { style: `--hue:${hueOf(axis)}` }, letterOf(axis)));
    return element("span", { class: "dim", title: `dimension ${dim}: ${axes.join(", ") || "whole"}` }, ...stripes);
  });
  return element("span", { class: "dims", role: "img", "aria-label": `sharded: ${told(sharding, rank) || "scalar"}` }, ...boxes);
}

function scaled(number, step, units) {
  let unit = 0;
  while (number >= step && unit < units.length - 1) {
    number /= step;
    unit += 1;
  }
  return `${number.toLocaleString("en", { maximumFractionDigits: number < 10 ? 1 : 0 })} ${units[unit]}`;
}
function bytes(number) { return scaled(number, 1024, ["B", "KiB", "MiB", "GiB", "TiB"]); }
function flops(number) { return scaled(number, 1000, ["FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP"]); }
function time(seconds) {
  const [size, unit] = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]].find(([least]) => seconds >= least) ?? [1e-9, "ns"];
  return `${(seconds / size).toLocaleString("en", { maximumSignificantDigits: 3 })} ${unit}`;
}
function percent(share) { return Number.isFinite(share) ? `${(100 * share).toFixed(share < 0.0995 && share > 0 ? 1 : 0)}%` : ""; }

function copyButton(text, what) {
  const button = element("button", { class: "copy", onclick: async () => {
    await copyText(text);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = `Copy ${what}`; }, 1200);
  } }, `Copy ${what}`);
  return button;
}

// Pages from a file have no clipboard in some browsers.
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = element("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}
