// Search over scopes, names of values and operations, shardings, and places in the source.
const MOST_FOUND = 40;
const search = document.getElementById("search");
const found = document.getElementById("found");
let hits = [];
let active = 0;

// The entries are made at the first search. Their words are their own, and the scopes around them.
let entries = null;
function makeEntries() {
  const around = new Map();
  const scopesOf = (group) => {
    if (!group || group === world) return "";
    if (!around.has(group)) around.set(group, [scopesOf(group.parent), labelOf(group)].filter(Boolean).join(" › "));
    return around.get(group);
  };
  const lower = (...words) => words.join(" ").toLowerCase();
  const inside = groups.filter((group) => group !== world).map((group) => ({
    label: `${labelOf(group)}${group.copies > 1 ? ` ×${group.copies}` : ""}`, extra: countOf(group), choice: { group: group.id },
    words: lower(labelOf(group), linesOf(group)), around: scopesOf(group.parent),
  }));
  const values = data.valueList.filter((value) => value.kind === "input" || makers.has(value.number)).map((value) => {
    const place = placeOf(value.number) ?? "";
    const name = shownName(value.number);
    return {
      label: name, extra: `${value.type}  ${shownPlace(place)}`, choice: { value: value.number },
      words: lower(name, value.name, value.type, place, shownPlace(place), data.shardings[value.sharding].text),
      around: scopesOf(parents.get(makers.get(value.number) ?? -value.number)),
    };
  });
  const collectives = data.collectives.map((one, number) => ({
    label: shownKind(one), extra: `${one.axes.join(", ")}  ${shownPlace(one.place)}`, choice: { collective: number },
    words: lower(one.kind, shownKind(one), ...one.axes, one.place ?? "", shownPlace(one.place), one.reason),
    around: scopesOf(parents.get(one.node)),
  }));
  return [...inside, ...values, ...collectives].map((entry) => ({ ...entry, scopes: entry.around.toLowerCase() }));
}

// A word that ends with a digit doesn't match the beginning of a longer number: `layer2` isn't `layer24`.
function has(text, word) {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    if (!/\d$/.test(word) || !/\d/.test(text[at + word.length] ?? "")) return true;
  }
  return false;
}

// Entries with all words, at least one of them their own; those that are named so come first.
function matches(words) {
  const rank = ({ label }) => {
    const name = label.toLowerCase();
    return name === words.join(" ") ? 0 : name.startsWith(words[0]) ? 1 : has(name, words[0]) ? 2 : 3;
  };
  return entries
    .filter((entry) => words.some((word) => has(entry.words, word)) && words.every((word) => has(entry.words, word) || has(entry.scopes, word)))
    .map((entry) => ({ entry, rank: rank(entry) }))
    .sort((one, other) => one.rank - other.rank).map(({ entry }) => entry);
}

function look() {
  entries ??= makeEntries();
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  hits = words.length ? matches(words) : [];
  active = 0;
  found.replaceChildren(...hits.slice(0, MOST_FOUND).map((entry, index) => element("li", {
    role: "option", id: `found-${index}`, onclick: () => take(entry),
  }, entry.label, " ", element("small", {}, entry.extra), element("small", { class: "around" }, entry.around))));
  if (words.length && !hits.length) found.append(element("li", { class: "soft", role: "presentation" }, "Nothing found"));
  if (hits.length > MOST_FOUND) found.append(element("li", { class: "soft", role: "presentation" }, `and ${(hits.length - MOST_FOUND).toLocaleString("en")} more`));
  showFound(words.length > 0);
  markHits();
}
function markHits() { markOnly("hit", (pane) => hits.slice(0, MOST_MARKED).map(({ choice }) => drawnEntry(choice, pane))); }
// What is drawn of an entry itself, if anything.
const MOST_MARKED = 500;
function drawnEntry({ group, value, collective }, pane) {
  if (group !== undefined) return pane.groups.get(group);
  const number = value === undefined ? data.collectives[collective].node : makers.get(value);
  return pane.nodes.get(number)?.place;
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
