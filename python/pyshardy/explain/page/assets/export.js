// Files to keep: the graph as SVG, tables as CSV.
function download(name, type, text) {
  const link = element("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function csv(rows) {
  const quoted = (cell) => (/[",\n]/.test(String(cell)) ? `"${String(cell).replaceAll('"', '""')}"` : String(cell));
  return rows.map((row) => row.map(quoted).join(",")).join("\n");
}
function csvButton(name, rows) {
  return element("button", { class: "csv", title: `Download as ${name}`, onclick: () => download(name, "text/csv", csv(rows())) }, "CSV");
}

const STYLED = ["fill", "stroke", "stroke-width", "stroke-dasharray", "font-size", "font-weight", "text-anchor", "visibility"];
function svgText() {
  const { box } = world;
  const copy = drawn("svg", { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 -8 ${box.width + 12} ${box.height + 16}`, width: box.width + 12, height: box.height + 16, "font-family": "system-ui, sans-serif" });
  const paper = getComputedStyle(document.body).backgroundColor;
  copy.append(drawn("rect", { y: -8, width: "100%", height: "100%", fill: paper }));
  const drawing = content.cloneNode(true);
  drawing.removeAttribute("transform");
  const originals = content.querySelectorAll("*");
  drawing.querySelectorAll("*").forEach((each, index) => {
    const style = getComputedStyle(originals[index]);
    each.setAttribute("style", STYLED.map((name) => `${name}:${style.getPropertyValue(name)}`).join(";"));
    for (const name of ["class", "tabindex", "role", "data-member"]) each.removeAttribute(name);
  });
  copy.append(drawing);
  return new XMLSerializer().serializeToString(copy);
}
