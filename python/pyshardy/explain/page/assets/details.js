// Details of the selected value, operation or collective.
const details = document.getElementById("details-body");

function showDetails() {
  const { chosen } = state;
  details.replaceChildren();
  if (!chosen) showLegend();
  else if (chosen.value !== undefined) showValue(chosen.value);
  else if (chosen.collective !== undefined) showCollective(chosen.collective);
  else showNode(chosen.node);
}

function showLegend() {
  const axis = data.axes[0]?.[0];
  const example = axis ? dimsOf({ dims: [[axis], []] }, 2) : "";
  const mark = (kind) => {
    const shape = { moves: ["circle", { cx: 9, cy: 9, r: 8 }], refuses: ["rect", { x: 3, y: 3, width: 12, height: 12, transform: "rotate(45 9 9)" }], differs: ["rect", { x: 2, y: 2, width: 14, height: 14 }] }[kind];
    return drawn("svg", { width: 18, height: 18, "aria-hidden": true }, drawn(shape[0], { class: `mark ${kind}`, ...shape[1] }));
  };
  const rows = [
    [example, `a square for each dimension: the first is divided along ${axis ?? "an axis"}, the second is whole`],
    [mark("moves"), "collectives of an operation or a group"],
    [mark("refuses"), "operations where axes conflict, and were refused"],
    ...(data.other ? [[mark("differs"), `values that ${data.other.title} shards differently`]] : []),
    [drawn("svg", { width: 34, height: 12, "aria-hidden": true }, drawn("path", { class: "edge", d: "M1,6H33" })), "edges of whole values are thin; others have the colors of their axes"],
    [element("b", {}, "×24"), "a group of equal parts, such as layers"],
  ];
  details.append(
    element("h2", {}, "Nothing selected"),
    element("p", { class: "soft" }, "Select an operation, a value or a collective to see the reasons for its sharding. A click on a group opens or closes it. The slider replays propagation."),
    element("h3", {}, "Legend"),
    element("dl", { class: "legend" }, ...rows.flatMap(([sign, meaning]) => [element("dt", {}, sign), element("dd", {}, meaning)])),
    ...(data.folded.length ? [element("p", { class: "soft" }, `${data.folded.length.toLocaleString("en")} constants and their broadcasts are not drawn.`)] : []),
    element("p", { class: "soft" }, DISCLAIMER),
  );
}

const DISCLAIMER = "The collectives are those of pyshardy's partitioner. XLA, which may partition a program by itself, can emit others: sdy-explain --against-xla compares.";

function facts(...pairs) {
  const list = element("dl");
  for (const [name, value] of pairs) if (value) list.append(element("dt", {}, name), element("dd", {}, value));
  return list;
}

function linkTo(label, choice) {
  return element("button", { class: "link", onclick: () => { visit(choice); } }, label);
}

function heading(title, place, ...buttons) {
  const shown = shownPlace(place);
  details.append(
    element("h2", {}, title),
    element("div", { class: "under" }, element("span", { class: "soft", title: place ?? "" }, shown), ...buttons, copyButton(location.href, "link")),
  );
}

function showValue(number) {
  const value = data.values[number];
  const sharding = shardingOf(number);
  heading(shownName(number), placeOf(number), copyButton(value.outputs?.[0] ?? value.name, "name"));
  const other = data.other?.shardings[number];
  const maker = value.node === null ? null : data.nodes[value.node];
  details.append(facts(
    ["also", (value.outputs ?? []).slice(1).join(", ")],
    ["global", element("span", { class: "type" }, value.type)],
    ["on each device", element("span", { class: "type" }, localShape(value, sharding).join("x") || "scalar")],
    ["memory", `${bytes(localBytes(value, sharding))} of ${bytes(localBytes(value, data.shardings[0]))}`],
    ["sharding", element("span", {}, element("span", { class: "type" }, sharding.text), " ", copyButton(sharding.text, "sharding"))],
    ["other plan", other === undefined ? "" : element("span", { class: "type" }, data.shardings[other].text)],
    ["defined by", maker ? linkTo(maker.name.replace("stablehlo.", ""), { node: value.node }) : ""],
    ["used by", usersOf(number)],
  ));
  const picture = data.pictures[`${data.shardings.indexOf(sharding)}:${value.shape.join("x")}`];
  if (picture) {
    const frame = element("div", { class: "picture" });
    frame.append(new DOMParser().parseFromString(picture, "image/svg+xml").documentElement);
    details.append(element("h3", {}, "Shards"), frame);
  }
  const chains = chainsOf(number);
  if (chains.length) details.append(element("h3", {}, "Why is this value sharded this way?"), ...chains);
  showRefusals(value.node);
  listCollectives(collectivesOf.get(number) ?? []);
}

const MOST_USERS = 6;
function usersOf(number) {
  const found = users.get(number) ?? [];
  if (!found.length) return "";
  const links = found.slice(0, MOST_USERS).map((user) => linkTo(data.nodes[user].name.replace("stablehlo.", ""), { node: user }));
  const more = found.length > MOST_USERS ? [`and ${found.length - MOST_USERS} more`] : [];
  return element("span", { class: "links" }, ...links, ...more);
}

// The steps that propagated each axis of a value, back to the annotation.
function chainsOf(number) {
  const value = data.values[number];
  const made = [];
  shardingOf(number).dims.forEach((axes, dim) => axes.forEach((axis) => {
    const items = chainOf(value.slot, dim, nameOfAxis(axis)).map((said) => element("li", {}, shortened(said)));
    made.push(
      element("p", {}, axisChip(axis), ` on dimension ${dim}`),
      element("ol", { class: "chain" }, ...items),
    );
  }));
  return made;
}

const MOST_LINKS = 60;
function chainOf(slot, dim, axis) {
  const said = [];
  let before = state.step;
  while (said.length < MOST_LINKS) {
    const holder = data.values[slots.get(slot)?.[0]];
    const annotated = holder ? data.shardings[holder.given].dims[dim] ?? [] : [];
    if (annotated.some((each) => nameOfAxis(each) === axis)) {
      const place = placeOf(holder.number);
      said.push(`${shownName(holder.number)}${place ? ` (${shownPlace(place)})` : ""}, ${data.origin_of_given}: ${data.shardings[holder.given].text}`);
      return said;
    }
    const found = gainBefore(slot, dim, axis, before);
    if (!found) return said;
    said.push(found.text);
    if (found.sourceSlot === null) return said;
    [slot, dim, before] = [found.sourceSlot, found.source_dim, found.step];
  }
  return [...said, "(further steps omitted)"];
}

// The steps that changed each slot, in order.
const changesOf = new Map();
data.steps.forEach(({ pattern, slots: tensors }, index) => {
  for (const { target } of data.patterns[pattern].gains) {
    if (!changesOf.has(tensors[target])) changesOf.set(tensors[target], []);
    changesOf.get(tensors[target]).push(index);
  }
});
function gainBefore(slot, dim, axis, before) {
  for (const index of [...(changesOf.get(slot) ?? [])].reverse()) {
    if (index >= before) continue;
    const found = gainsOf(index).find((gain) => gain.slot === slot && gain.dim === dim && gain.axes.some((each) => nameOfAxis(each) === axis));
    if (found) return found;
  }
  return null;
}

function showNode(number) {
  const node = data.nodes[number];
  heading(node.name, node.place);
  const cost = data.costs.nodes.find((each) => each.node === number);
  if (cost) details.append(facts(["time", time(cost.seconds)], ["work", cost.flops ? flops(cost.flops) : ""]));
  for (const [title, values] of [["Operands", node.operands], ["Results", node.results]]) {
    const shown = values.filter((each) => data.values[each]);
    if (!shown.length) continue;
    details.append(element("h3", {}, title));
    shown.forEach((each) => {
      const value = data.values[each];
      details.append(element("div", { class: "value" }, dimsOf(shardingOf(each), value.shape.length), " ",
        linkTo(shownName(each), { value: each }), " ", element("span", { class: "soft type" }, value.type)));
    });
  }
  if (node.results.length && data.values[node.results[0]]) {
    const chains = chainsOf(node.results[0]);
    if (chains.length) details.append(element("h3", {}, "Why is the result sharded this way?"), ...chains);
  }
  showRefusals(number);
  listCollectives(node.collectives);
}

function showRefusals(number) {
  const refused = number === null ? [] : data.nodes[number]?.refused ?? [];
  if (!refused.length) return;
  const items = refused.map((each) => element("li", {}, each));
  details.append(element("h3", {}, "Refused axes"), element("ol", { class: "chain" }, ...items));
}

function listCollectives(numbers) {
  if (!numbers.length) return;
  details.append(element("h3", {}, "Collectives"));
  numbers.forEach((each) => {
    const one = data.collectives[each];
    details.append(element("div", { class: "reason" }, linkTo(`${shownKind(one)}, ${bytes(one.nbytes)}`, { collective: each }), element("div", {}, shortened(one.reason))));
  });
}

function shownKind(one) { return one.kind.replaceAll("_", "-"); }

function showCollective(number) {
  const one = data.collectives[number];
  heading(shownKind(one), one.place);
  details.append(
    facts(
      ["along", one.axes.length ? element("span", { class: "links" }, ...one.axes.map((axis) => axisChip(axis))) : "several axes"],
      ["sent", `${bytes(one.nbytes)} by each device, ${percent(one.nbytes / data.sent)} of all`],
      ["time", time(one.seconds)],
      ["executions", one.times === null ? "unknown" : String(one.times)],
      ["operation", one.node === null ? "" : linkTo(data.nodes[one.node].name.replace("stablehlo.", ""), { node: one.node })],
      ["value", one.value === null || !data.values[one.value] ? "" : linkTo(shownName(one.value), { value: one.value })],
    ),
    element("p", { class: "reason" }, shortened(one.reason)),
  );
  for (const decision of one.decisions) {
    const what = shortened(decision.what);
    details.append(
      element("h3", {}, decision.title),
      element("div", {}, decision.node === null ? what : linkTo(what, { node: decision.node }), " ",
        element("span", { class: "soft", title: decision.place ?? "" }, shownPlace(decision.place))),
      element("div", { class: "type wrapped" }, decision.sharding),
    );
    if (decision.reasons.length) {
      details.append(element("ol", { class: "chain" }, ...decision.reasons.map((reason) => element("li", {}, shortened(reason)))));
    }
  }
  details.append(element("p", { class: "soft" }, DISCLAIMER));
}
