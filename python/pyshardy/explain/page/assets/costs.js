// The estimated costs: totals, axes, repeated work, and the operations that take the most time.
function estimateRows(estimate) {
  return [
    ["time", `${time(estimate.predicted)}, ${time(estimate.exposed)} of it exposed communication`],
    ["all or no overlap", `${time(Math.max(estimate.compute_seconds, ...Object.values(estimate.seconds_by_lane)))} to ${time(estimate.compute_seconds + estimate.communication_seconds)}`],
    ["computation", time(estimate.compute_seconds)],
    ["communication", time(estimate.communication_seconds)],
    ["arithmetic", flops(estimate.operations)],
    ["memory traffic", bytes(estimate.nbytes_accessed)],
    ["sent", bytes(estimate.nbytes_sent)],
    ["arguments", bytes(estimate.argument_bytes)],
    ["peak memory", `${bytes(estimate.peak_bytes)}${estimate.fits ? "" : ", more than the device has"}`],
  ];
}

function bar(share) { return element("span", { class: "bar", role: "img", "aria-label": percent(share), style: `--share:${Math.max(0, Math.min(1, share))}` }); }

function fillCosts() {
  const { estimate, capacity, idle, nodes } = data.costs;
  const panel = document.getElementById("costs");
  const rows = estimateRows(estimate);
  rows.find(([name]) => name === "peak memory")[1] += ` (${percent(estimate.peak_bytes / capacity)} of ${bytes(capacity)})`;
  panel.append(
    element("h3", { class: "padded" }, `Each device, ${estimate.hardware}`),
    element("dl", { class: "padded" }, ...rows.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)])),
    element("p", { class: "soft padded" }, "Estimates for a comparison of plans, not measurements. The time is that of a scheduler that hides communication where it can."),
  );
  const axes = Object.keys(estimate.bytes_by_axes);
  if (axes.length) panel.append(element("h3", { class: "padded" }, "Communication"), table([
    { title: "axes", key: (axis) => axis, cell: (axis) => axis },
    { title: "sent", isNumber: true, key: (axis) => estimate.bytes_by_axes[axis], cell: (axis) => bytes(estimate.bytes_by_axes[axis]) },
    { title: "time", isNumber: true, key: (axis) => estimate.seconds_by_axes[axis], cell: (axis) => time(estimate.seconds_by_axes[axis]) },
    { title: "share", isNumber: true, key: (axis) => estimate.seconds_by_axes[axis], cell: (axis) => bar(estimate.seconds_by_axes[axis] / estimate.communication_seconds) },
  ], [{ title: "", rows: axes.sort((a, b) => estimate.seconds_by_axes[b] - estimate.seconds_by_axes[a]) }]));
  if (idle.length) panel.append(element("h3", { class: "padded" }, "Repeated work"), ...idle.map(idleAxis));
  if (nodes.length) {
    panel.append(
      element("h3", { class: "padded" }, "Operations by time"),
      csvButton("operations.csv", () => [["operation", "location", "seconds", "flops on each device"],
        ...nodes.map(({ node, seconds, flops: work }) => [data.nodes[node].name, data.nodes[node].place ?? "", seconds, work])]),
      nodeTable(nodes, estimate.compute_seconds),
    );
  }
}

function nodeTable(nodes, total) {
  return table([
    { title: "operation", key: ({ node }) => data.nodes[node]?.name ?? "", cell: ({ node }) => element("div", {},
      element("div", { class: "name" }, (data.nodes[node]?.name ?? "").replace("stablehlo.", "")),
      element("span", { class: "soft" }, shownPlace(data.nodes[node]?.place))) },
    { title: "time", isNumber: true, key: (row) => row.seconds, cell: (row) => element("div", {}, time(row.seconds), element("div", { class: "soft" }, percent(row.seconds / total))) },
    { title: "work", isNumber: true, key: (row) => row.flops, cell: (row) => (row.flops ? flops(row.flops) : "") },
  ], [{ title: "", rows: nodes }], { onRow: ({ node }) => visit({ node }) });
}

function idleAxis({ axis, size, seconds, share, operations }) {
  const summary = element("summary", {}, axisChip(axis), ` shards nothing in ${percent(share)} of the computation time: `,
    `its ${size} devices repeat the work of ${time(seconds)}`);
  const made = element("details", { class: "padded" }, summary);
  made.addEventListener("toggle", () => {
    if (made.open && made.children.length === 1) made.append(nodeTable(operations, data.costs.estimate.compute_seconds));
  });
  return made;
}
