// Search over names of values and operations, shardings, and places in the source.
const MOST_FOUND = 40;
const search = document.getElementById("search");
const found = document.getElementById("found");
let hits = [];
let active = 0;

// The entries are made at the first search.
let entries = null;
function makeEntries() {
  const values = data.valueList.filter((value) => value.kind === "input" || makers.has(value.number)).map((value) => {
    const place = placeOf(value.number) ?? "";
    const name = shownName(value.number);
    return {
      label: name, extra: `${value.type}  ${shownPlace(place)}`, choice: { value: value.number },
      words: `${name} ${value.name} ${value.type} ${place} ${data.shardings[value.sharding].text}`.toLowerCase(),
    };
  });
  const collectives = data.collectives.map((one, number) => ({
    label: shownKind(one), extra: `${one.axes.join(", ")}  ${shownPlace(one.place)}`, choice: { collective: number },
    words: `${one.kind} ${shownKind(one)} ${one.axes.join(" ")} ${one.place ?? ""} ${one.reason}`.toLowerCase(),
  }));
  return [...values, ...collectives];
}

function look() {
  entries ??= makeEntries();
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  hits = words.length ? entries.filter((entry) => words.every((word) => entry.words.includes(word))) : [];
  active = 0;
  found.replaceChildren(...hits.slice(0, MOST_FOUND).map((entry, index) => element("li", {
    role: "option", id: `found-${index}`, onclick: () => take(entry),
  }, entry.label, " ", element("small", {}, entry.extra))));
  if (words.length && !hits.length) found.append(element("li", { class: "soft", role: "presentation" }, "Nothing found"));
  if (hits.length > MOST_FOUND) found.append(element("li", { class: "soft", role: "presentation" }, `and ${(hits.length - MOST_FOUND).toLocaleString("en")} more`));
  showFound(words.length > 0);
}
function showFound(isShown) {
  found.hidden = !isShown;
  search.setAttribute("aria-expanded", isShown);
  found.querySelectorAll("[role=option]").forEach((option, index) => {
    option.setAttribute("aria-selected", index === active);
    if (index === active) option.scrollIntoView({ block: "nearest" });
  });
  if (isShown && hits.length) search.setAttribute("aria-activedescendant", `found-${active}`);
  else search.removeAttribute("aria-activedescendant");
}
function take(entry) {
  showFound(false);
  search.blur();
  visit(entry.choice);
}
search.addEventListener("input", look);
search.addEventListener("keydown", (event) => {
  const count = Math.min(hits.length, MOST_FOUND);
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step && count) {
    event.preventDefault();
    active = (active + step + count) % count;
    showFound(true);
  }
  if (event.key === "Enter" && hits[active]) take(hits[active]);
  if (event.key === "Escape") {
    showFound(false);
    search.blur();
  }
});
document.addEventListener("click", (event) => { if (!event.target.closest("#find")) showFound(false); });
