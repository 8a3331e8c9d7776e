// Search over names of values and operations, shardings, and places in the source.
const MOST_FOUND = 40;
const search = document.getElementById("search");
const found = document.getElementById("found");

const entries = [
  ...Object.entries(data.values).filter(([number, value]) => value.kind === "input" || makers.has(Number(number)))
    .map(([number, value]) => ({
      label: value.name, extra: `${value.type}  ${value.place ?? ""}`, choice: { value: Number(number) },
      words: `${value.name} ${value.type} ${value.place ?? ""} ${data.shardings[value.sharding].text}`.toLowerCase(),
    })),
  ...data.collectives.map((one, number) => ({
    label: one.kind, extra: `${one.axes.join(", ")}  ${one.place ?? ""}`, choice: { collective: number },
    words: `${one.kind} ${one.axes.join(" ")} ${one.place ?? ""} ${one.reason}`.toLowerCase(),
  })),
];

function look() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  found.replaceChildren();
  found.hidden = !words.length;
  if (!words.length) return;
  const hits = entries.filter((entry) => words.every((word) => entry.words.includes(word)));
  hits.slice(0, MOST_FOUND).forEach((entry, index) => found.append(element("li", {
    role: "option", "aria-selected": index === 0, onclick: () => take(entry),
  }, entry.label, " ", element("small", {}, entry.extra))));
  if (!hits.length) found.append(element("li", { class: "soft" }, "Nothing found"));
  if (hits.length > MOST_FOUND) found.append(element("li", { class: "soft" }, `and ${hits.length - MOST_FOUND} more`));
  found.first = hits[0];
}
function take(entry) {
  found.hidden = true;
  search.blur();
  visit(entry.choice);
}
