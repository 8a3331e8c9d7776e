// Details of the selected value, operation or collective.
const details = document.getElementById("details");

function showDetails() {
  const { chosen } = state;
  details.replaceChildren();
  if (!chosen) {
    details.append(
      element("h2", {}, "Nothing selected"),
      element("p", { class: "soft" }, "Click an operation, a value or a collective to see the reasons for its sharding. Click a group to open or close it. Drag the slider below to replay propagation."),
    );
  } else if (chosen.value !== undefined) showValue(chosen.value);
  else if (chosen.collective !== undefined) showCollective(chosen.collective);
  else showNode(chosen.node);
}

function facts(...pairs) {
  const list = element("dl");
  for (const [name, value] of pairs) if (value) list.append(element("dt", {}, name), element("dd", {}, value));
  return list;
}

function linkTo(label, choice) {
  return element("button", { class: "link", onclick: () => { visit(choice); } }, label);
}

function showValue(number) {
  const value = data.values[number];
  const sharding = shardingOf(number);
  details.append(element("h2", {}, value.name), element("div", { class: "soft" }, value.place ?? ""));
  details.append(facts(
    ["global", element("span", { class: "type" }, value.type)],
    ["on each device", element("span", { class: "type" }, localShape(value, sharding).join("x") || "scalar")],
    ["memory", `${bytes(localBytes(value, sharding))} of ${bytes(localBytes(value, data.shardings[0]))}`],
    ["sharding", element("span", { class: "type" }, sharding.text)],
    ["defined by", makers.has(number) && makers.get(number) >= 0 ? linkTo(labelOf(makers.get(number)), { node: makers.get(number) }) : ""],
  ));
  const picture = data.pictures[`${data.shardings.indexOf(sharding)}:${value.shape.join("x")}`];
  if (picture) {
    const frame = element("div", { class: "picture" });
    frame.append(new DOMParser().parseFromString(picture, "image/svg+xml").documentElement);
    details.append(element("h3", {}, "Shards"), frame);
  }
  const chains = chainsOf(number);
  if (chains.length) details.append(element("h3", {}, "Why is this value sharded this way?"), ...chains);
  showRefusals(makers.get(number));
}

// The steps that propagated each axis of a value, back to the annotation.
function chainsOf(number) {
  const value = data.values[number];
  const made = [];
  shardingOf(number).dims.forEach((axes, dim) => axes.forEach((axis) => {
    const items = chainOf(value.slot, dim, nameOfAxis(axis)).map((told) => element("li", {}, told));
    made.push(
      element("p", {}, element("span", { class: "axis", style: `--hue:${hueOf(axis)}` }, axis), ` on dimension ${dim}`),
      element("ol", { class: "chain" }, ...items),
    );
  }));
  return made;
}

function chainOf(slot, dim, axis) {
  const told = [];
  let before = state.step;
  for (let length = 0; length < 60; length += 1) {
    const holder = data.values[slots.get(slot)?.[0]];
    const given = holder ? data.shardings[holder.given].dims[dim] ?? [] : [];
    if (given.some((each) => nameOfAxis(each) === axis)) {
      told.push(`${holder.name}${holder.place ? ` (${holder.place})` : ""}, given in the program: ${data.shardings[holder.given].text}`);
      return told;
    }
    const found = gainBefore(slot, dim, axis, before);
    if (!found) return told;
    told.push(found.flow.told);
    if (found.flow.source === null) return told;
    [slot, dim, before] = [found.flow.source, found.flow.source_dim, found.step];
  }
  return [...told, "(further steps omitted)"];
}

const gains = new Map();
data.steps.forEach((step, number) => step.flows.forEach((flow) => {
  if (!gains.has(flow.target)) gains.set(flow.target, []);
  gains.get(flow.target).push({ step: number, flow });
}));
function gainBefore(slot, dim, axis, before) {
  const known = gains.get(slot) ?? [];
  for (let at = known.length - 1; at >= 0; at -= 1) {
    const { step, flow } = known[at];
    if (step < before && flow.dim === dim && flow.axes.some((each) => nameOfAxis(each) === axis)) return known[at];
  }
  return null;
}

function showNode(number) {
  const node = nodeOf(number);
  if (number < 0) { showValue(-number); return; }
  details.append(element("h2", {}, node.name), element("div", { class: "soft" }, node.place ?? ""));
  for (const [title, values] of [["Operands", node.operands], ["Results", node.results]]) {
    if (!values.length) continue;
    details.append(element("h3", {}, title));
    values.forEach((each) => {
      const value = data.values[each];
      if (!value) return;
      details.append(element("div", {}, dimsOf(shardingOf(each), value.shape.length), " ",
        linkTo(value.name, { value: each }), " ", element("span", { class: "soft type" }, value.type)));
    });
  }
  if (node.results.length) {
    const chains = chainsOf(node.results[0]);
    if (chains.length) details.append(element("h3", {}, "Why is the result sharded this way?"), ...chains);
  }
  showRefusals(number);
  if (node.collectives.length) {
    details.append(element("h3", {}, "Collectives"));
    node.collectives.forEach((each) => {
      const one = data.collectives[each];
      details.append(element("div", { class: "reason" }, linkTo(`${one.kind}, ${bytes(one.nbytes)}`, { collective: each }), element("div", {}, one.reason)));
    });
  }
}

function showRefusals(number) {
  const refused = number === undefined || number < 0 ? [] : data.nodes[number]?.refused ?? [];
  if (!refused.length) return;
  const items = refused.map((each) => element("li", {}, each));
  details.append(element("h3", {}, "Refused axes"), element("ol", { class: "chain" }, ...items));
}

function showCollective(number) {
  const one = data.collectives[number];
  details.append(
    element("h2", {}, one.kind.replaceAll("_", "-")),
    element("div", { class: "soft" }, one.place ?? ""),
    facts(["along", one.axes.join(", ")], ["sent", bytes(one.nbytes)], ["executions", one.times === null ? "unknown" : String(one.times)]),
    element("p", { class: "reason" }, one.reason),
    element("h3", {}, "Shardings"),
    element("pre", {}, one.told.split("\n").slice(2).map((line) => line.slice(2)).join("\n")),
  );
  if (one.node !== null) details.append(element("p", {}, linkTo("show the operation", { node: one.node })));
}
