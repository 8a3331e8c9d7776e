// Details of the selected value, operation, collective or group.
const details = document.getElementById("details-body");

function showDetails() {
  const { chosen } = state;
  details.replaceChildren();
  if (!chosen) showLegend();
  else if (chosen.value !== undefined) showValue(chosen.value);
  else if (chosen.collective !== undefined) showCollective(chosen.collective);
  else if (chosen.group !== undefined) showGroup(groups[chosen.group]);
  else showNode(chosen.node);
}

function showLegend() {
  const axis = data.axes[0]?.[0];
  const example = axis ? dimsOf({ dims: [[axis], []] }, 2) : "";
  const mark = (kind) => drawn("svg", { width: 24, height: 20, viewBox: "0 -8 24 20", "aria-hidden": true }, markShape(kind, 21, 18));
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
    element("p", { class: "soft" }, "Select an operation, a value or a collective to see the reasons for its sharding. A click on a group shows what is in it; ▸ or a double click opens it. The slider replays propagation."),
    ...beginnings(),
    element("h3", {}, "Legend"),
    element("dl", { class: "legend" }, ...rows.flatMap(([sign, meaning]) => [element("dt", {}, sign), element("dd", {}, meaning)])),
    ...(data.folded.length ? [element("p", { class: "soft" }, `${data.folded.length.toLocaleString("en")} constants and their broadcasts are not drawn.`)] : []),
    element("p", { class: "soft" }, DISCLAIMER),
  );
}

// Where to look first.
function beginnings() {
  if (firstCollective < 0) return [];
  const largest = data.collectives.reduce((most, one, number) => (one.nbytes > data.collectives[most].nbytes ? number : most), 0);
  const longest = data.costs.nodes.find(({ node }) => parents.has(node))?.node;
  const link = (number) => linkTo(`${shownKind(data.collectives[number])}, ${bytes(data.collectives[number].nbytes)}`, { collective: number });
  return [element("h3", {}, "Start with"), facts(
    ["first collective", link(firstCollective)],
    ["largest", largest === firstCollective ? "" : link(largest)],
    ["longest operation", longest === undefined ? "" : linkTo(`${labelOf(longest)}, ${time(secondsOf.get(longest) ?? 0)}`, { node: longest })],
  )];
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
  showReasons(number);
  if (!reasonsOf(number)) showRefusals(value.node);
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
  const work = data.costs.nodes.find((each) => each.node === number)?.flops;
  details.append(facts(["in", pathTo(parents.get(number))], ["time", secondsOf.has(number) ? time(secondsOf.get(number)) : ""], ["work", work ? flops(work) : ""]));
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
    showReasons(node.results[0]);
  }
  if (!reasonsOf(node.results[0] ?? 0)) showRefusals(number);
  listCollectives(node.collectives);
}

// --- Groups

// The groups around something, as links.
function pathTo(group) {
  const links = [];
  for (; group && group !== world; group = group.parent) links.unshift(linkTo(labelOf(group), { group: group.id }));
  return links.length ? element("span", { class: "path" }, ...links) : "";
}

function showGroup(group) {
  const isOpen = state.open.has(group.id);
  const button = (label, act) => element("button", { onclick: act }, label);
  heading(`${labelOf(group)}${group.copies > 1 ? ` ×${group.copies}` : ""}`, null);
  const hasGroups = group.members.some((member) => typeof member !== "number");
  details.append(
    element("div", { class: "under" },
      button(isOpen ? "Close" : "Open", () => toggle(group)),
      isOpen && hasGroups ? button("Open one level", () => openLevel(group)) : "",
      hasGroups ? button("Open all", () => openAll(group)) : ""),
    group.of ? factsOfInputs(group) : factsOfOperations(group),
  );
  const own = collectivesIn(group);
  if (own.length) details.append(element("h3", {}, "Collectives"), table([
    { title: "kind", key: (row) => row.kind, cell: (row) => element("div", { class: "name" }, shownKind(row), " ", ...row.axes.map((axis) => axisChip(axis))) },
    { title: "count", isNumber: true, key: (row) => row.numbers.length, cell: (row) => String(row.numbers.length) },
    { title: "sent", isNumber: true, key: (row) => row.nbytes, cell: (row) => bytes(row.nbytes) },
    { title: "time", isNumber: true, key: (row) => row.seconds, cell: (row) => time(row.seconds) },
  ], [{ title: "", rows: own }], { onRow: (row) => visit({ collective: row.numbers[0] }) }));
  if (!group.of) listKinds(group);
  showReasonsIn(group);
  listValues("Largest values that enter", entering(group));
  listValues(group.of ? "Largest" : "Largest values that leave", leaving(group));
}

function factsOfInputs(group) {
  const values = group.operations.map((number) => data.values[-number]);
  const sum = (find) => values.reduce((all, value) => all + find(value), 0);
  const whole = values.filter((value) => value.shape.length && !finalSharding(value.number).dims.flat().length);
  return facts(
    ["values", values.length.toLocaleString("en")],
    ["memory", `${bytes(sum((value) => localBytes(value, finalSharding(value.number))))} of ${bytes(sum((value) => localBytes(value, data.shardings[0])))}`],
    ["whole", whole.length ? `${whole.length.toLocaleString("en")} on each device, ${bytes(whole.reduce((all, value) => all + localBytes(value, data.shardings[0]), 0))}` : ""],
  );
}

function factsOfOperations(group) {
  const { compute_seconds: computing, communication_seconds: communicating } = data.costs.estimate;
  const sum = (rows, find) => rows.reduce((all, row) => all + find(row), 0);
  const own = collectivesIn(group);
  const seconds = sum(group.operations, (number) => secondsOf.get(number) ?? 0);
  const [sent, sending] = [sum(own, (row) => row.nbytes), sum(own, (row) => row.seconds)];
  const results = group.operations.flatMap((number) => nodeOf(number).results).map((number) => data.values[number]);
  const refused = group.operations.filter((number) => nodeOf(number).refused.length).length;
  return facts(
    ["in", pathTo(group.parent)],
    ["operations", `${group.operations.length.toLocaleString("en")}${group.copies > 1 ? `, ${countOf(group)}` : ""}`],
    ["lines", linesOf(group)],
    ["computation", seconds ? `${time(seconds)}, ${percent(seconds / computing)} of all` : ""],
    ["collectives", own.length ? `${sum(own, (row) => row.numbers.length).toLocaleString("en")} send ${bytes(sent)}, ${percent(sent / data.sent)} of all` : "none"],
    ["communication", sending ? `${time(sending)}, ${percent(sending / communicating)} of all` : ""],
    ["results", `${bytes(sum(results, (value) => localBytes(value, finalSharding(value.number))))} on each device`],
    ["refused axes", refused ? `at ${refused.toLocaleString("en")} operations` : ""],
  );
}

function collectivesIn(group) {
  const rows = new Map();
  for (const number of group.operations.flatMap((each) => nodeOf(each).collectives)) {
    const { kind, axes, nbytes, seconds } = data.collectives[number];
    const key = JSON.stringify([kind, axes]);
    if (!rows.has(key)) rows.set(key, { kind, axes, numbers: [], nbytes: 0, seconds: 0 });
    const row = rows.get(key);
    row.numbers.push(number);
    row.nbytes += nbytes;
    row.seconds += seconds;
  }
  return [...rows.values()].sort((one, other) => other.nbytes - one.nbytes);
}

const MOST_KINDS = 8;
function listKinds(group) {
  const kinds = new Map();
  for (const number of group.operations) {
    const name = labelOf(number);
    if (!kinds.has(name)) kinds.set(name, { name, count: 0, seconds: 0 });
    kinds.get(name).count += 1;
    kinds.get(name).seconds += secondsOf.get(number) ?? 0;
  }
  const rows = [...kinds.values()].sort((one, other) => other.seconds - one.seconds || other.count - one.count);
  details.append(element("h3", {}, rows.length > MOST_KINDS ? `${MOST_KINDS} of ${rows.length} kinds of operations` : "Operations"), table([
    { title: "operation", key: (row) => row.name, cell: (row) => row.name },
    { title: "count", isNumber: true, key: (row) => row.count, cell: (row) => row.count.toLocaleString("en") },
    { title: "time", isNumber: true, key: (row) => row.seconds, cell: (row) => (row.seconds ? time(row.seconds) : "") },
  ], [{ title: "", rows: rows.slice(0, MOST_KINDS) }]));
}

// The values that operations of a group use and others define, and those that it defines for others.
function entering(group) {
  const own = new Set(group.operations);
  return group.operations.flatMap((number) => nodeOf(number).operands).filter((value) => makers.has(value) && !own.has(makers.get(value)));
}
function leaving(group) {
  const own = new Set(group.operations);
  return group.operations.flatMap((number) => nodeOf(number).results)
    .filter((value) => data.values[value]?.outputs || (users.get(value) ?? []).some((user) => !own.has(user)));
}
const MOST_LARGEST = 5;
function listValues(title, numbers) {
  const local = (number) => localBytes(data.values[number], finalSharding(number));
  const distinct = [...new Set(numbers)].filter((number) => data.values[number]).sort((one, other) => local(other) - local(one));
  if (!distinct.length) return;
  details.append(element("h3", {}, distinct.length > MOST_LARGEST ? `${title} (${MOST_LARGEST} of ${distinct.length.toLocaleString("en")})` : title),
    ...distinct.slice(0, MOST_LARGEST).map((number) => element("div", { class: "value" }, dimsOf(shardingOf(number), data.values[number].shape.length), " ",
      linkTo(shownName(number), { value: number }), " ", element("span", { class: "soft" }, bytes(local(number))))));
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
      ["exposed", one.exposed_because ? `${time(one.exposed)}: ${one.exposed_because}` : ""],
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
  if (one.value !== null && data.values[one.value]) showReasons(one.value, one.axes.map(nameOfAxis));
  details.append(element("p", { class: "soft" }, DISCLAIMER));
}
