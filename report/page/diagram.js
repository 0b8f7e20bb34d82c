// The space-time diagram: a lane for each rank, packets between them, the critical path.

const GUTTER = 62;
const AXIS = 26;
const MOST_HEIGHT = 600;
// Packets that are drawn at once; more are a grey surface that says nothing.
const MOST_ARROWS = 3000;
// Packets in the time in sight that are looked at, whatever their ranks.
const MOST_LOOKED_AT = 100000;

view.lane = Math.max(6, Math.min(36, Math.floor((MOST_HEIGHT - AXIS) / Math.max(1, RANKS))));

const canvas = element("diagram"), scroll = element("scroll"), overview = element("overview");
const context = canvas.getContext("2d");
const diagram = { width: 0, height: 0, chosen: null, drawnArrows: [], marks: [], isAsked: false };

const firstLane = () => scroll.scrollTop / view.lane;
const toX = (when) => GUTTER + ((when - view.from) / (view.to - view.from)) * (diagram.width - GUTTER);
const toTime = (x) => view.from + ((x - GUTTER) / (diagram.width - GUTTER)) * (view.to - view.from);
const toY = (rank) => AXIS + (rank + 0.5) * view.lane - scroll.scrollTop;
const toRank = (y) => Math.floor((y - AXIS + scroll.scrollTop) / view.lane);

// Sizes of the canvas, and of what is scrolled.
function layOut() {
  const all = RANKS * view.lane;
  diagram.width = scroll.clientWidth;
  diagram.height = Math.min(all, MOST_HEIGHT - AXIS) + AXIS;
  scroll.style.height = diagram.height + 2 + "px";
  element("spacer").style.height = Math.max(0, all + AXIS - diagram.height) + "px";
  for (const [of, height] of [[canvas, diagram.height], [overview, 28]]) {
    const ratio = window.devicePixelRatio || 1;
    of.style.height = height + "px";
    of.width = Math.round((of === canvas ? diagram.width : of.clientWidth) * ratio);
    of.height = Math.round(height * ratio);
  }
  ask();
}

// Makes lanes so high, and keeps the rank in the middle where it is.
function setLane(height) {
  const half = (diagram.height - AXIS) / 2;
  const rank = (scroll.scrollTop + half) / view.lane;
  view.lane = Math.max(2, Math.min(60, Math.round(height)));
  layOut();
  scroll.scrollTop = rank * view.lane - half;
}

// Asks for a drawing before the next frame.
function ask() {
  if (diagram.isAsked) return;
  diagram.isAsked = true;
  requestAnimationFrame(() => {
    diagram.isAsked = false;
    draw();
  });
}

// Shows the time between these, within the run.
function show(from, to) {
  const length = Math.min(DURATION, Math.max(to - from, 20));
  view.from = Math.max(0, Math.min(from, DURATION - length));
  view.to = view.from + length;
  ask();
}

// Zooms by a factor, around a time.
function zoom(factor, around) {
  const from = around - (around - view.from) * factor;
  show(from, from + (view.to - view.from) * factor);
}

// Brings the lane of a rank into sight.
function reveal(rank) {
  const top = rank * view.lane, height = diagram.height - AXIS;
  if (top < scroll.scrollTop || top + view.lane > scroll.scrollTop + height) {
    scroll.scrollTop = top - height / 2;
  }
}

// Shows a stretch of a rank's time, and marks it.
function jump(rank, from, to) {
  const margin = Math.max((to - from) * 0.6, 20);
  diagram.chosen = { rank, from, to };
  show(from - margin, to + margin);
  reveal(rank);
}

function draw() {
  const ratio = canvas.width / diagram.width;
  drawLanes(ratio);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  drawAxis();
  drawNames();
  context.save();
  context.beginPath();
  context.rect(GUTTER, AXIS, diagram.width - GUTTER, diagram.height - AXIS);
  context.clip();
  drawMarks();
  if (element("show-path").checked) drawPath();
  drawArrows();
  drawChosen();
  context.restore();
  drawOverview();
  const width = (view.to - view.from) / diagram.width;
  const said = element("view");
  said.textContent = `${moment(view.from, width)} to ${moment(view.to, width)}, ${time(view.to - view.from)} of ${time(DURATION)}`;
  Object.assign(said.dataset, { from: view.from, to: view.to, first: Math.floor(firstLane()), lane: view.lane });
}

function drawLanes(ratio) {
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.fillStyle = colours.card;
  context.fillRect(0, 0, canvas.width, canvas.height);
  const left = Math.round(GUTTER * ratio), top = Math.round(AXIS * ratio);
  const image = context.createImageData(Math.max(1, canvas.width - left), Math.max(1, canvas.height - top));
  const buffer = new Uint32Array(image.data.buffer);
  buffer.fill(pixel(colours.card));
  const gap = view.lane >= 12 ? Math.round(3 * ratio) : view.lane >= 6 ? Math.round(ratio) : 0;
  for (let rank = Math.floor(firstLane()); rank < RANKS; rank++) {
    const from = Math.round((rank * view.lane - scroll.scrollTop) * ratio);
    const begin = Math.max(0, from), end = Math.min(image.height, Math.round(from + view.lane * ratio) - gap);
    if (from >= image.height) break;
    if (end <= begin) continue;
    fill(buffer, image.width, 0, image.width, begin, end - begin, pixels.lane);
    drawLane(rank, buffer, image.width, begin, end - begin);
  }
  context.putImageData(image, left, top);
}

function drawNames() {
  const every = Math.ceil(13 / view.lane);
  const nice = [1, 2, 4, 5, 8, 10, 16, 20, 32, 50, 64, 100].find((step) => step >= every) ?? 128;
  context.font = `${view.lane >= 13 ? 11.5 : 10.5}px system-ui, sans-serif`;
  context.textAlign = "right";
  context.textBaseline = "middle";
  const first = Math.floor(firstLane() / nice) * nice;
  for (let rank = first; rank < RANKS && toY(rank) < diagram.height; rank += nice) {
    if (toY(rank) < AXIS + 2) continue;
    const isChosen = diagram.chosen && diagram.chosen.rank === rank;
    context.fillStyle = isChosen ? colours.match : colours.soft;
    context.fillText(view.lane >= 16 ? "rank " + rank : rank, GUTTER - 9, toY(rank) - 1);
  }
}

function drawAxis() {
  context.fillStyle = colours.card;
  context.fillRect(0, 0, diagram.width, AXIS);
  const [step, from] = ticks(view.from, view.to, (diagram.width - GUTTER) / 110);
  context.font = "11px system-ui, sans-serif";
  context.textAlign = "center";
  context.textBaseline = "alphabetic";
  for (let when = from; when <= view.to; when += step) {
    const x = Math.round(toX(when)) + 0.5;
    context.fillStyle = colours.soft;
    context.fillText(moment(when, step), Math.min(Math.max(x, GUTTER + 20), diagram.width - 30), 14);
    context.fillStyle = colours.line;
    context.fillRect(x - 0.5, AXIS - 7, 1, 7);
  }
  context.fillRect(GUTTER, AXIS - 1, diagram.width - GUTTER, 1);
}

// Step between marks of an axis, and the first mark.
function ticks(from, to, marks) {
  const rough = (to - from) / Math.max(1, marks);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((digit) => digit * power >= rough);
  return [step, Math.ceil(from / step) * step];
}

// Packets in sight; null if they are too many.
function arrowsInSight() {
  const [low, high] = [firstLane() - 1, firstLane() + (diagram.height - AXIS) / view.lane];
  const isHidden = (rank) => rank < low || rank > high;
  const withControl = element("show-control").checked;
  const found = [];
  const end = after(arrow.left, view.to, 0, arrow.left.length);
  const first = after(arrow.left, view.from - longestFlight, 0, end);
  if (end - first > MOST_LOOKED_AT) return null;
  for (let at = first; at < end; at++) {
    if (arrow.left[at] + arrow.flight[at] < view.from) continue;
    if (!withControl && !isData(at)) continue;
    if (isHidden(arrow.from[at]) && isHidden(arrow.to[at])) continue;
    if (found.push(at) > MOST_ARROWS) return null;
  }
  return found;
}

const longestFlight = arrow.flight.reduce((most, flight) => Math.max(most, flight), 0);
const isData = (at) => arrow.tag[at] <= 3;

function drawArrows() {
  const note = element("arrows-note");
  diagram.drawnArrows = [];
  note.textContent = "";
  if (!element("show-arrows").checked) return;
  const found = arrowsInSight();
  if (found === null) {
    note.textContent = "· zoom in to see packets";
    return;
  }
  const isSome = arrow.left.length < findings.matching.matched;
  note.textContent = "· " + count(found.length, "packet") + " in sight" + (isSome ? ", the slower ones of all" : "");
  note.dataset.arrows = found.length;
  const size = Math.min(7, Math.max(3, view.lane / 3));
  for (const isOfData of [false, true]) {
    context.strokeStyle = context.fillStyle = isOfData ? colours.arrow : colours.control;
    context.globalAlpha = found.length > 800 ? 0.35 : found.length > 200 ? 0.55 : 0.8;
    context.lineWidth = isOfData ? 1.1 : 0.8;
    for (const at of found) {
      if (isData(at) === isOfData) drawArrow(toX(arrow.left[at]), toY(arrow.from[at]), toX(arrow.left[at] + arrow.flight[at]), toY(arrow.to[at]), size);
    }
  }
  context.globalAlpha = 1;
  diagram.drawnArrows = found;
}

function drawArrow(x, y, endX, endY, size) {
  const angle = Math.atan2(endY - y, endX - x);
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(endX, endY);
  context.stroke();
  context.beginPath();
  context.moveTo(endX, endY);
  context.lineTo(endX - size * Math.cos(angle - 0.35), endY - size * Math.sin(angle - 0.35));
  context.lineTo(endX - size * Math.cos(angle + 0.35), endY - size * Math.sin(angle + 0.35));
  context.fill();
}

// Draws the critical path: along lanes, and from lane to lane.
function drawPath() {
  const first = Math.max(0, after(step.begin, view.from, 0, step.begin.length) - 2);
  const end = after(step.begin, view.to, first, step.begin.length);
  const thick = view.lane >= 12 ? 3 : 2;
  // Where it goes from lane to lane everywhere, it would hide all lanes.
  if (end - first > diagram.width / 4) return drawPathAlongLanes(first, end, thick);
  context.strokeStyle = colours.path;
  context.lineJoin = context.lineCap = "round";
  context.lineWidth = thick;
  context.beginPath();
  let x = -1;
  for (let at = first; at < end; at++) {
    const [fromX, endX] = [toX(step.begin[at]), toX(step.end[at])];
    // Many steps within one pixel are one stroke.
    if (at === first || step.on[at] === 1 || fromX - x > 0.5) context.moveTo(fromX, toY(step.rank[at]));
    context.lineTo(endX, toY(step.on[at] === 1 ? step.to[at] : step.rank[at]));
    x = endX;
  }
  context.stroke();
}

// Draws these steps of the critical path, each pixel of a lane once.
function drawPathAlongLanes(first, end, thick) {
  const drawn = new Float64Array(RANKS).fill(-1);
  context.fillStyle = colours.path;
  for (let at = first; at < end; at++) {
    const rank = step.rank[at], endX = toX(step.end[at]);
    if (step.on[at] === 1 || endX < drawn[rank]) continue;
    const fromX = Math.max(drawn[rank], Math.floor(toX(step.begin[at])));
    drawn[rank] = Math.floor(endX) + 1;
    context.fillRect(fromX, toY(rank) - thick / 2, drawn[rank] - fromX, thick);
  }
}

function drawMarks() {
  context.fillStyle = colours.match;
  let x = -9, rank = -1;
  for (const mark of diagram.marks) {
    if (mark.to < view.from || mark.from > view.to) continue;
    const at = Math.round(toX(mark.from));
    if (at === x && mark.rank === rank) continue;
    [x, rank] = [at, mark.rank];
    const height = Math.max(2, Math.min(4, view.lane / 4));
    context.fillRect(at, toY(mark.rank) + view.lane / 2 - height - 1, Math.max(2, toX(mark.to) - at), height);
  }
}

function drawChosen() {
  const chosen = diagram.chosen;
  if (!chosen) return;
  context.strokeStyle = colours.match;
  context.lineWidth = 2;
  const [from, to] = [Math.max(toX(chosen.from), GUTTER - 5), Math.min(toX(chosen.to), diagram.width + 5)];
  context.strokeRect(from, toY(chosen.rank) - view.lane / 2, Math.max(3, to - from), view.lane - 1);
}

// Draws where in the run the view is.
function drawOverview() {
  const to = overview.getContext("2d"), ratio = overview.width / overview.clientWidth;
  const width = overview.clientWidth, height = 28;
  to.setTransform(ratio, 0, 0, ratio, 0, 0);
  to.clearRect(0, 0, width, height);
  drawStack(to, GUTTER, 0, width - GUTTER, height);
  const [from, end] = [view.from, view.to].map((when) => GUTTER + (when / DURATION) * (width - GUTTER));
  to.fillStyle = colours.card;
  to.globalAlpha = 0.72;
  to.fillRect(GUTTER, 0, from - GUTTER, height);
  to.fillRect(end, 0, width - end, height);
  to.globalAlpha = 1;
  to.strokeStyle = colours.accent;
  to.lineWidth = 1.5;
  to.strokeRect(from + 0.75, 0.75, Math.max(2, end - from - 1.5), height - 1.5);
}

// Draws how many ranks are in each state, over time.
function drawStack(to, left, top, width, height) {
  const of = findings.utilization, bins = of.computing.length;
  for (let bin = 0; bin < bins; bin++) {
    let y = top + height;
    const x = left + (bin / bins) * width;
    for (const state of STACK) {
      const rows = (of[STATES[state]][bin] / Math.max(1, RANKS)) * height;
      to.fillStyle = colours[STATES[state]];
      to.fillRect(x, y - rows, width / bins + 0.6, rows);
      y -= rows;
    }
  }
}
