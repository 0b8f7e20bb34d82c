// Data of the page: what was found, columns of numbers, and how numbers are said.

const known = JSON.parse(document.getElementById("known").textContent);
const findings = known.findings;

const STATES = ["computing", "waiting", "asleep", "handler", "lost"];
const STATE_WORDS = ["computing", "waiting", "asleep in waits", "in handlers", "unknown: events lost"];
// Order in which states lie upon one another, from below.
const STACK = [0, 3, 1, 2, 4];

const element = (id) => document.getElementById(id);

// Column of numbers, from little-endian bytes in base64.
function column(name) {
  const from = element("column-" + name);
  const text = atob(from.textContent);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  from.remove();
  switch (from.dataset.type) {
    case "u8": return bytes;
    case "u16": return new Uint16Array(bytes.buffer);
    case "u32": return new Uint32Array(bytes.buffer);
    default: return new Float64Array(bytes.buffer);
  }
}

// Columns whose names begin so, without that beginning.
function columns(kind, names) {
  return Object.fromEntries(names.map((name) => [name, column(kind + "-" + name)]));
}

// Times of steps from one to the next. Each rank's begin anew, at its first event.
function timesOf(steps, firsts, begins) {
  const times = new Float64Array(steps.length);
  for (let rank = 0; rank + 1 < firsts.length; rank++) {
    let now = begins[rank];
    for (let at = firsts[rank]; at < firsts[rank + 1]; at++) times[at] = now += steps[at];
  }
  return times;
}

const life = columns("life", ["begin", "end"]);
const piece = columns("piece", ["first", "step", "state", "span", "port"]);
const wait = columns("wait", ["first", "step", "length", "text", "by"]);
const arrow = columns("arrow", ["from", "to", "step", "flight", "size", "sequence", "root", "group", "tag", "system"]);
const cell = columns("cell", ["from", "to", "packets", "bytes", "control"]);
const step = columns("step", ["on", "rank", "to", "step", "length"]);
piece.start = timesOf(piece.step, piece.first, life.begin);
wait.begin = timesOf(wait.step, wait.first, life.begin);
wait.end = wait.begin.map((begin, at) => begin + wait.length[at]);
arrow.left = timesOf(arrow.step, [0, arrow.step.length], [0]);
step.begin = timesOf(step.step, [0, step.step.length], [0]);
step.end = step.begin.map((begin, at) => begin + step.length[at]);

// Words for who ended a wait of which no rank is known that did.
const NOBODY = findings.sampled ? "a rank not known" : "no packet";
const RANKS = findings.ranks;
const DURATION = Math.max(findings.duration_ns, 1);

// Ports are written for handlers alone: here there is one for each piece.
piece.port = (() => {
  const ports = new Uint32Array(piece.state.length);
  for (let at = 0, next = 0; at < ports.length; at++) {
    if (piece.state[at] === 3) ports[at] = piece.port[next++];
  }
  return ports;
})();

// Numbers of the states that there are.
const PRESENT = [0, 1, 2, 3, 4].filter((state) => piece.state.includes(state));

// Time that a rank has spent in each of them when a piece begins, by state and piece.
const spent = STATES.map((_, state) => new Float64Array(PRESENT.includes(state) ? piece.state.length : 0));
for (let rank = 0; rank < RANKS; rank++) {
  for (let at = piece.first[rank] + 1; at < piece.first[rank + 1]; at++) {
    for (const state of PRESENT) spent[state][at] = spent[state][at - 1];
    spent[piece.state[at - 1]][at] += piece.start[at] - piece.start[at - 1];
  }
}

// End of a piece of a rank.
const pieceEnd = (rank, at) => (at + 1 < piece.first[rank + 1] ? piece.start[at + 1] : life.end[rank]);

// Index of the first element in a sorted column, between two, that is larger than this.
function after(sorted, value, from, to) {
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (sorted[middle] <= value) from = middle + 1; else to = middle;
  }
  return from;
}

// Piece of a rank at a time; -1 if there is none.
function pieceAt(rank, time) {
  if (time < life.begin[rank] || time > life.end[rank]) return -1;
  const first = piece.first[rank];
  const found = after(piece.start, time, first, piece.first[rank + 1]) - 1;
  return found < first ? -1 : found;
}

// Innermost wait of a rank at a time; -1 if there is none.
function waitAt(rank, time) {
  const first = wait.first[rank];
  let at = after(wait.begin, time, first, wait.first[rank + 1]) - 1;
  for (let looked = 0; at >= first && looked < 64; at--, looked++) {
    if (wait.end[at] >= time) return at;
  }
  return -1;
}

const text = (number) => known.texts[number] || "";

function digits(number) {
  return number < 9.995 ? number.toFixed(2) : number < 99.95 ? number.toFixed(1) : number.toFixed(0);
}

// Duration with three digits and a unit.
function time(ns) {
  for (const [scale, unit] of [[1e9, "s"], [1e6, "ms"], [1e3, "us"]]) {
    if (ns >= scale * 0.9995) return digits(ns / scale) + " " + unit;
  }
  return Math.round(ns) + " ns";
}

// Moment of the run, to as many digits as a step of this many nanoseconds needs.
function moment(ns, step) {
  const [scale, unit] = DURATION >= 1e9 ? [1e9, "s"] : DURATION >= 1e6 ? [1e6, "ms"] : [1e3, "us"];
  const places = Math.max(0, Math.min(9, Math.ceil(-Math.log10(step / scale))));
  return (ns / scale).toFixed(places) + " " + unit;
}

function bytes(number) {
  if (number < 1024) return number + " B";
  let unit = "";
  for (unit of ["KiB", "MiB", "GiB", "TiB"]) {
    number /= 1024;
    if (number < 1023.5) break;
  }
  return digits(number) + " " + unit;
}

function percent(part, whole) {
  const share = whole > 0 ? (100 * part) / whole : 0;
  return (share === 0 || share >= 9.95 ? share.toFixed(0) : share.toFixed(1)) + " %";
}

const thousands = (number) => Math.round(number).toLocaleString("en-US");
const count = (number, thing) => thousands(number) + " " + thing + (number === 1 ? "" : "s");

// Colours of the style sheet; they change between light and dark.
const colours = {};
function readColours() {
  const style = getComputedStyle(document.documentElement);
  for (const name of [...STATES, "path", "arrow", "control", "match", "lane", "ink", "soft", "faint", "line", "card", "accent"]) {
    colours[name] = style.getPropertyValue("--" + name).trim();
  }
}
readColours();

// Colours of spans, in the order of how long they took. They can be told apart by most people who
// see few colours (after Paul Tol's "muted" and "light").
const SPAN_COLOURS = ["#4477aa", "#228833", "#aa3377", "#66ccee", "#ccbb44", "#ee6677", "#44aa99", "#882255", "#999933", "#bbccee"];
const spanOrder = findings.spans.filter((span) => span.name !== null).map((span) => known.texts.indexOf(span.name));
const spanColour = (number) => {
  const at = spanOrder.indexOf(number);
  return number === 0 || at < 0 ? colours.computing : SPAN_COLOURS[at % SPAN_COLOURS.length];
};

// Number of a colour as pixels have it in memory, of a "#rrggbb".
function pixel(colour) {
  const value = parseInt(colour.slice(1), 16);
  return (0xff000000 | ((value & 255) << 16) | (value & 0xff00) | (value >> 16)) >>> 0;
}

// Element with a text, in another one.
function add(to, tag, content, className) {
  const made = document.createElement(tag);
  if (content !== undefined && content !== null) made.textContent = content;
  if (className) made.className = className;
  to.append(made);
  return made;
}
