// Why values aren't sharded further, and what would change it.
const reasonsAt = new Map(data.reasons.tensors.map(({ slot, absent }) => [slot, absent]));

// Equal arguments and results, as those of equal layers, have the reasons of the first of them.
const reasonsLike = new Map();
const likeness = ({ number, type, sharding, given }) => JSON.stringify([shownName(number).replace(/\d+/g, "#"), type, sharding, given]);
for (const value of data.valueList) {
  if ((value.kind === "input" || value.outputs) && reasonsAt.has(value.slot) && !reasonsLike.has(likeness(value))) reasonsLike.set(likeness(value), value.number);
}

// The reasons of a value, and the value from which they are taken if it is another one.
function reasonsOf(number) {
  const value = data.values[number];
  if (!value) return null;
  const like = reasonsAt.has(value.slot) ? number : value.kind === "input" || value.outputs ? reasonsLike.get(likeness(value)) : undefined;
  if (like === undefined) return null;
  return { like: like === number ? null : like, absent: reasonsAt.get(data.values[like].slot).map((index) => data.reasons.absent[index]) };
}

function reasonItem({ axes, text: said, remedy, what_if: tried }) {
  return element("div", { class: "reason" },
    element("div", { class: "links" }, ...axes.map((axis) => axisChip(axis))),
    element("div", {}, shortened(said)),
    remedy ? element("div", { class: "soft" }, `To change it: ${shortened(remedy)} `, tried ? copyButton(tried, "what-if") : "") : "");
}

// The reasons of a value; of all axes, or of some.
function showReasons(number, axes = null) {
  const value = data.values[number];
  if (!value?.shape.length) return;
  const title = element("h3", {}, "Why is it not sharded further?");
  const found = reasonsOf(number);
  if (!found) {
    const isSharded = data.axes.every(([name, size]) => size === 1 || finalSharding(number).dims.flat().some((axis) => nameOfAxis(axis) === name));
    const line = /^(.*?):(\d+)/.exec(placeOf(number) ?? "");
    const word = value.outputs?.[0] ?? (value.kind === "input" || !line ? value.name : `${line[1].split("/").pop()}:${line[2]}`);
    const command = `sdy-explain ${data.title} --value="${word}"`;
    if (!isSharded) details.append(title, element("p", { class: "soft" }, "The report of a large program has the reasons of its arguments, results and largest values only. For others: ", copyButton(command, "command")));
    return;
  }
  const absent = found.absent.filter((each) => !axes || each.axes.some((axis) => axes.includes(axis)));
  if (!absent.length) return;
  details.append(title);
  if (found.like !== null) details.append(element("p", { class: "soft" }, "As ", linkTo(shownName(found.like), { value: found.like }), ":"));
  details.append(...absent.map(reasonItem));
}

// The reasons of the values that a group makes, those of most memory first; equal ones once.
const MOST_REASONS = 5;
function showReasonsIn(group) {
  const found = new Map();
  for (const result of new Set(group.operations.flatMap((number) => nodeOf(number).results))) {
    for (const each of reasonsOf(result)?.absent ?? []) {
      const key = JSON.stringify([each.axes, each.text.replace(/\d+/g, "#")]);
      if (!found.has(key)) found.set(key, { each, values: [], nbytes: 0 });
      found.get(key).values.push(result);
      found.get(key).nbytes += localBytes(data.values[result], finalSharding(result));
    }
  }
  const rows = [...found.values()].sort((one, other) => other.nbytes - one.nbytes);
  if (!rows.length) return;
  details.append(element("h3", {}, rows.length > MOST_REASONS ? `Not sharded further (${MOST_REASONS} of ${rows.length} reasons)` : "Not sharded further"));
  for (const { each, values, nbytes } of rows.slice(0, MOST_REASONS)) {
    const [first] = values;
    details.append(element("div", { class: "reason" },
      element("div", { class: "links" }, ...each.axes.map((axis) => axisChip(axis))),
      element("div", {}, linkTo(shownName(first), { value: first }), values.length > 1 ? ` and ${(values.length - 1).toLocaleString("en")} more` : "", `, ${bytes(nbytes)}: `, shortened(each.text))));
  }
}
