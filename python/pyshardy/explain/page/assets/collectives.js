// The list of collectives: grouped by kind, axes and reason, with totals; filtered by axis.
function collectiveGroups(numbers) {
  const found = new Map();
  for (const number of numbers) {
    const { kind, axes, reason } = data.collectives[number];
    const alike = reason.replace(/\d+/g, "*"); // in equal layers reasons differ in numbers
    const key = JSON.stringify([kind, axes, alike]);
    if (!found.has(key)) found.set(key, { kind, axes, reason, numbers: [], nbytes: 0, seconds: 0 });
    const group = found.get(key);
    if (group.reason !== reason) group.reason = alike;
    group.numbers.push(number);
    group.nbytes += data.collectives[number].nbytes;
    group.seconds += data.collectives[number].seconds;
  }
  for (const group of found.values()) group.numbers.sort((a, b) => data.collectives[b].nbytes - data.collectives[a].nbytes);
  return [...found.values()].sort((one, other) => other.nbytes - one.nbytes);
}

// A collective in its group: the name of its value, or the place of its operation.
function innerName(one) {
  const value = data.values[one.value];
  if (value && (value.kind === "input" || value.outputs)) return shownName(one.value);
  return shownPlace(one.place) || (value ? shownName(one.value) : shownKind(one));
}

// The numbers of sdy-explain --against-xla, from optimised HLO.
function besideXla() {
  if (!data.xla.length) return [];
  const sides = ["ours", "XLA's"].map((title, side) => ({
    title, isNumber: true, key: (row) => row.nbytes_sent[side],
    cell: (row) => element("div", {}, bytes(row.nbytes_sent[side]), element("div", { class: "soft" }, `${row.counts[side]} of them`)),
  }));
  return [element("h3", { class: "padded" }, "Beside XLA's, in optimised HLO"), table([
    { title: "collective", key: (row) => row.kind, cell: (row) => `${row.kind} of ${row.group_size}` }, ...sides,
  ], [{ title: "", rows: data.xla }])];
}

function fillCollectives() {
  const panel = document.getElementById("collectives");
  const everything = data.collectives.map((_, number) => number);
  if (!everything.length) {
    panel.append(element("p", { class: "soft padded" }, "No collectives"));
    return;
  }
  const place = element("div");
  const axes = [...new Set(data.collectives.flatMap((one) => one.axes.map(nameOfAxis)))];
  const chosen = new Set();
  const chips = axes.map((axis) => {
    const button = element("button", { class: "axis filter", style: `--hue:${hueOf(axis)}`, "aria-pressed": "false", onclick: () => {
      if (!chosen.delete(axis)) chosen.add(axis);
      button.setAttribute("aria-pressed", chosen.has(axis));
      fill();
    } }, element("i", {}, letterOf(axis)), axis);
    return button;
  });
  function shown() {
    return everything.filter((number) => !chosen.size || data.collectives[number].axes.some((axis) => chosen.has(nameOfAxis(axis))));
  }
  const of = (row) => (typeof row === "number" ? { ...data.collectives[row], numbers: [row] } : row);
  const columns = [
    { title: "collective", key: (row) => of(row).kind, cell: (row, isInner, isOpen) => {
      const one = of(row);
      const name = element("div", { class: "name" }, shownKind(one), " ", ...one.axes.map((axis) => axisChip(axis)));
      if (isInner) return element("div", {}, linkTo(innerName(one), { collective: row }));
      const count = one.numbers.length > 1 ? element("div", { class: "soft" }, `${isOpen ? "▾" : "▸"} ${one.numbers.length} collectives`) : "";
      return element("div", {}, name, element("div", { class: "soft" }, shortened(one.reason)), count);
    } },
    { title: "sent", isNumber: true, key: (row) => of(row).nbytes, cell: (row) => element("div", {}, bytes(of(row).nbytes),
      element("div", { class: "soft" }, percent(of(row).nbytes / data.sent))) },
    { title: "time", isNumber: true, key: (row) => of(row).seconds, cell: (row) => time(of(row).seconds) },
  ];
  const total = element("p", { class: "padded total" });
  function fill() {
    const numbers = shown();
    const rows = collectiveGroups(numbers);
    const sum = (field) => rows.reduce((all, row) => all + row[field], 0);
    total.textContent = `${numbers.length.toLocaleString("en")} collectives send ${bytes(sum("nbytes"))} (${percent(sum("nbytes") / data.sent)}) in ${time(sum("seconds"))}`;
    place.replaceChildren(table(columns, [{ title: "", rows }], {
      onRow: (row) => visit({ collective: of(row).numbers[0] }),
      inner: (row) => (typeof row === "number" ? [] : row.numbers),
    }));
  }
  fill();
  panel.append(
    element("div", { class: "filters padded" }, ...(axes.length > 1 ? [element("span", { class: "soft" }, "along"), ...chips] : []),
      csvButton("collectives.csv", () => [["kind", "axes", "bytes sent", "executions", "seconds", "location", "reason"],
        ...shown().map((n) => data.collectives[n]).map((one) => [one.kind, one.axes.join(" "), one.nbytes, one.times ?? "", one.seconds, one.place ?? "", one.reason])])),
    total, place, ...besideXla(), element("p", { class: "soft padded" }, DISCLAIMER),
  );
}
