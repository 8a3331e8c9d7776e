// What the page shows, and what of it is open or chosen. Everything else listens to `listeners`.
const listeners = { step: [], choice: [], open: [] };
const state = { step: data.steps.length, open: new Set(), chosen: null };

function tell(what) { for (const listener of listeners[what]) listener(); }

// Groups by number; inputs of the program are members of a group of their own, as negative numbers.
const groups = [];
const parents = new Map();
function register(group, parent) {
  group.id = groups.push(group) - 1;
  group.parent = parent;
  group.operations = [];
  if (group.operation !== null && group.operation !== undefined) {
    parents.set(group.operation, group);
    group.operations.push(group.operation);
  }
  for (const member of group.members) {
    if (typeof member === "number") {
      parents.set(member, group);
      group.operations.push(member);
    } else {
      register(member, group);
      for (const operation of member.operations) group.operations.push(operation);
    }
  }
  return group;
}

const inputs = data.valueList.filter((value) => value.kind === "input").map((value) => value.number);
const roots = data.groups.map((group, index) => {
  const isMain = group.label === "@main" || (index === 0 && data.groups.length === 1);
  const asNodes = { label: "inputs", of: "values", copies: 1, members: inputs.map((number) => -number) };
  return isMain && inputs.length ? { ...group, members: [asNodes, ...group.members] } : group;
}).filter((group) => group.members.length);
const world = register(roots.length === 1 ? roots[0] : { label: "", copies: 1, members: roots }, null);
function openWorld() {
  state.open = new Set([world.id]);
  if (roots.length > 1) state.open.add(roots.find((root) => root.label === "@main")?.id ?? roots[0].id);
}

// The groups that are drawn, outer ones first.
function* shownGroups(group = world) {
  yield group;
  if (state.open.has(group.id)) for (const member of group.members) if (typeof member !== "number") yield* shownGroups(member);
}
function countBoxes() {
  return [...shownGroups()].reduce((sum, group) => sum + (state.open.has(group.id) ? group.members.length : 0), 0);
}

// At first what is around the first collective is open, if it can be surveyed.
const MOST_AT_START = 72;
const firstCollective = data.collectives.findIndex((one) => one.node !== null && parents.has(one.node));
function openStart() {
  openWorld();
  const around = [];
  for (let group = parents.get(data.collectives[firstCollective]?.node); group; group = group.parent) around.unshift(group);
  for (const group of around) {
    if (countBoxes() + group.members.length > MOST_AT_START) return;
    state.open.add(group.id);
  }
}
openStart();

// The time of each operation in a run, and the bytes that its collectives send.
const secondsOf = new Map();
for (const event of data.costs.events) {
  if (event.node === null || event.collective !== null || event.is_loop) continue;
  secondsOf.set(event.node, (secondsOf.get(event.node) ?? 0) + event.duration / 1e6);
}

// An operation, or an input as if it were one.
function nodeOf(number) {
  if (number >= 0) return data.nodes[number];
  const value = data.values[-number];
  return { name: value.name, place: value.place, operands: [], results: [-number], refused: [], collectives: [] };
}

const makers = new Map();
for (const number of parents.keys()) for (const result of nodeOf(number).results) makers.set(result, number);

const slots = new Map();
for (const value of data.valueList) {
  if (!slots.has(value.slot)) slots.set(value.slot, []);
  slots.get(value.slot).push(value.number);
}

// The sharding of each slot after `state.step` steps. Earlier steps are replayed from the start.
let most = 0;
for (const slot of slots.keys()) most = Math.max(most, slot);
for (const step of data.steps) for (const slot of step.slots) most = Math.max(most, slot);
const given = new Int32Array(most + 1);
for (const value of data.valueList) given[value.slot] = value.given;
let current = given.slice();
let replayed = 0;
function replayTo(step) {
  if (step < replayed) {
    current = given.slice();
    replayed = 0;
  }
  for (; replayed < step; replayed += 1) {
    const { pattern, slots: tensors } = data.steps[replayed];
    for (const [position, sharding] of data.patterns[pattern].changes) current[tensors[position]] = sharding;
  }
}

function shardingOf(number) {
  const value = data.values[number];
  if (!value) return data.shardings[0];
  return data.shardings[state.step === data.steps.length ? value.sharding : current[value.slot]];
}
function finalSharding(number) { return data.shardings[data.values[number].sharding]; }

function localShape(value, sharding) {
  return value.shape.map((size, dim) => Math.ceil(size / (sharding.num_shards[dim] ?? 1)));
}
function localBytes(value, sharding) {
  return localShape(value, sharding).reduce((product, size) => product * size, value.elementBytes);
}

// The axes that a step added, with what it says of them.
function gainsOf(index) {
  const { node, pattern, slots: tensors } = data.steps[index];
  const { name, num_operands: count, gains } = data.patterns[pattern];
  const place = data.nodes[node]?.place;
  return gains.map((gain) => ({
    ...gain,
    slot: tensors[gain.target],
    sourceSlot: gain.source === null ? null : tensors[gain.source],
    step: index,
    text: `step ${index}: ${gain.target < count ? `operand ${gain.target}` : `result ${gain.target - count}`} of ${name}`
      + `${place ? ` (${shownPlace(place)})` : ""} ${gain.told}`,
  }));
}

function choose(choice) {
  state.chosen = choice;
  tell("choice");
}

function setStep(step) {
  state.step = Math.max(0, Math.min(data.steps.length, step));
  replayTo(state.step);
  tell("step");
}

// Open all that is around an operation or a group.
function reveal({ node, group: inner }) {
  let changed = false;
  for (let group = inner === undefined ? parents.get(node) : groups[inner].parent; group; group = group.parent) {
    changed = changed || !state.open.has(group.id);
    state.open.add(group.id);
  }
  if (changed) tell("open");
}

// The operations of a choice: those of a group, or one.
function chosenNodes() {
  if (state.chosen?.group !== undefined) return groups[state.chosen.group].operations;
  const node = chosenNode();
  return node === null ? [] : [node];
}

// The operation to show for a choice of a value, an operation or a collective. Constants aren't drawn: their first user is shown.
function chosenNode() {
  const { chosen } = state;
  if (!chosen) return null;
  let number = chosen.node ?? null;
  if (chosen.collective !== undefined) number = data.collectives[chosen.collective].node;
  if (chosen.value !== undefined) number = makers.get(chosen.value) ?? data.values[chosen.value].node ?? users.get(chosen.value)?.[0];
  if (number === null || number === undefined || parents.has(number)) return number ?? null;
  const uses = (data.nodes[number]?.results ?? []).flatMap((result) => users.get(result) ?? []);
  return uses.find((user) => parents.has(user)) ?? null;
}
