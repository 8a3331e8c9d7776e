// What the page shows, and what of it is open or chosen. Everything else listens to `listeners`.
const data = JSON.parse(document.getElementById("data").textContent);
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
  for (const member of group.members) {
    if (typeof member === "number") {
      parents.set(member, group);
      group.operations.push(member);
    } else {
      register(member, group);
      group.operations.push(...member.operations);
    }
  }
  return group;
}

const inputs = Object.entries(data.values).filter(([, value]) => value.kind === "input");
const roots = data.groups.map((group, index) => {
  const isMain = index === 0 || group.label === "main";
  const label = `@${group.label}`;
  const members = isMain && inputs.length && group.members.length
    ? [{ label: "inputs", of: "values", members: inputs.map(([number]) => -number) }, ...group.members]
    : group.members;
  return { label, members };
});
const world = register({ label: data.title, members: roots }, null);
state.open.add(world.id);
if (world.members.length) state.open.add(world.members[0].id);

// An operation, or an input as if it were one.
function nodeOf(number) {
  if (number >= 0) return data.nodes[number];
  const value = data.values[-number];
  return { name: value.name, place: value.place, operands: [], results: [-number], refused: [], collectives: [] };
}

const makers = new Map();
for (const number of parents.keys()) for (const result of nodeOf(number).results) makers.set(result, number);

const slots = new Map();
for (const [number, value] of Object.entries(data.values)) {
  if (!slots.has(value.slot)) slots.set(value.slot, []);
  slots.get(value.slot).push(Number(number));
}

// The sharding of each slot after `state.step` steps.
let current = new Map();
function replayTo(step) {
  current = new Map();
  for (const value of Object.values(data.values)) current.set(value.slot, value.given);
  for (let at = 0; at < step; at += 1) {
    for (const [slot, sharding] of data.steps[at].changes) current.set(slot, sharding);
  }
}
replayTo(state.step);

function shardingOf(number) {
  const value = data.values[number];
  if (!value) return data.shardings[0];
  const isDone = state.step === data.steps.length;
  return data.shardings[isDone ? value.sharding : current.get(value.slot) ?? 0];
}

function localShape(value, sharding) {
  return value.shape.map((size, dim) => Math.ceil(size / (sharding.num_shards[dim] ?? 1)));
}
function localBytes(value, sharding) {
  return localShape(value, sharding).reduce((product, size) => product * size, value.element_bytes);
}

function choose(choice) { state.chosen = choice; tell("choice"); }

function setStep(step) {
  state.step = Math.max(0, Math.min(data.steps.length, step));
  replayTo(state.step);
  tell("step");
}

// Open all that is around an operation.
function reveal(number) {
  let changed = false;
  for (let group = parents.get(number); group; group = group.parent) {
    changed = changed || !state.open.has(group.id);
    state.open.add(group.id);
  }
  if (changed) tell("open");
}
