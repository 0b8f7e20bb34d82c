// All of an event: what is under the pointer, in words.

const hover = element("hover");

// Shows lines at the pointer; the first one is a title, and empty ones are left out.
function say(event, lines) {
  hover.replaceChildren();
  lines.filter((line) => line).forEach((line, at) => add(hover, at === 0 || line.startsWith("Rank ") ? "b" : "div", line));
  hover.hidden = false;
  const [width, height] = [hover.offsetWidth, hover.offsetHeight];
  const x = event.clientX + 16 + width > window.innerWidth ? event.clientX - width - 12 : event.clientX + 16;
  const y = Math.min(event.clientY + 16, window.innerHeight - height - 8);
  hover.style.left = Math.max(4, x) + "px";
  hover.style.top = Math.max(4, y) + "px";
}

const hush = () => { hover.hidden = true; };

// Says what is at a place in the diagram: a packet, and what the rank does there.
function sayAt(event) {
  const box = canvas.getBoundingClientRect();
  const [x, y] = [event.clientX - box.left, event.clientY - box.top];
  const rank = toRank(y), isInLanes = y >= AXIS && rank >= 0 && rank < RANKS;
  if (x <= GUTTER) return isInLanes ? say(event, rankLines(rank)) : hush();
  const near = nearestArrow(x, y), at = isInLanes ? pieceAt(rank, toTime(x)) : -1;
  const lines = [...(near >= 0 ? arrowLines(near) : []), ...(at >= 0 ? pieceLines(rank, at, toTime(x)) : [])];
  return lines.length > 0 ? say(event, lines) : hush();
}

function rankLines(rank) {
  const of = findings.time[rank], total = of.end_ns - of.begin_ns;
  const part = (state) => `${time(of[state + "_ns"])} ${state} (${percent(of[state + "_ns"], total)})`;
  return [
    `Rank ${rank} on ${of.host}`,
    [part("computing"), part("waiting")].join(", "),
    [part("asleep"), part("handler")].join(", "),
    `${count(of.events, "event")}, ${count(of.waits, "wait")}, ${count(of.interrupts, "interrupt")}`,
    of.lost_events ? count(of.lost_events, "event") + " lost" : "",
  ];
}

function pieceLines(rank, at, when) {
  const state = piece.state[at], from = piece.start[at], to = pieceEnd(rank, at);
  const precise = Math.max((to - from) / 100, 1);
  const lines = [
    `Rank ${rank}: ${STATE_WORDS[state]} for ${time(to - from)}`,
    `${moment(from, precise)} to ${moment(to, precise)}`,
    piece.span[at] ? `span: ${text(piece.span[at])}` : "",
    piece.port[at] ? `handler: ${text(piece.port[at])}` : "",
  ];
  const within = state === 1 || state === 2 ? waitAt(rank, when) : -1;
  if (within >= 0) lines.push(...waitLines(within));
  const perPixel = (view.to - view.from) / (diagram.width - GUTTER);
  const first = piece.first[rank], end = piece.first[rank + 1];
  const inPixel = after(piece.start, when + perPixel / 2, first, end) - after(piece.start, when - perPixel / 2, first, end);
  if (inPixel > 2) lines.push(`one of ${thousands(inPixel)} stretches in this pixel: zoom in`);
  return lines;
}

function waitLines(at) {
  const known = findings.sampled ? "for rank " : "ended by a packet from rank ";
  const by = wait.by[at] ? known + (wait.by[at] - 1) : "ended by " + NOBODY;
  return [
    wait.text[at] ? `waits for ${text(wait.text[at])}` : "",
    `wait of ${time(wait.end[at] - wait.begin[at])}, ${by}`,
  ];
}

function arrowLines(at) {
  return [
    `Packet from rank ${arrow.from[at]} to rank ${arrow.to[at]}`,
    `${known.tags[arrow.tag[at]]} of ${known.systems[arrow.system[at]]}, ${bytes(arrow.size[at])}`,
    `left at ${moment(arrow.left[at], 1)}, taken ${time(arrow.flight[at])} later`,
    arrow.sequence[at] ? `sequence number ${arrow.sequence[at]}` : "",
    arrow.group[at] ? `to group ${arrow.group[at] - 1}, on the tree of rank ${arrow.root[at]}` : "",
  ];
}

// Says how many ranks are in each state at a place in the drawing of utilization.
function sayUtilization(event) {
  const of = findings.utilization, box = element("utilization").getBoundingClientRect();
  const at = Math.floor(((event.clientX - box.left - GUTTER) / (box.width - GUTTER)) * of.computing.length);
  if (at < 0 || at >= of.computing.length) return hush();
  const lines = STACK.filter((state) => of[STATES[state]][at] > 0)
    .map((state) => `${digits(of[STATES[state]][at])} ${STATE_WORDS[state]}`);
  say(event, [`Ranks at ${moment(at * of.bin_ns, of.bin_ns)}`, ...lines]);
}

// Packet whose line is within some pixels of a place; -1 if there is none.
function nearestArrow(x, y) {
  let nearest = -1, least = view.lane < 16 ? 3 : 5;
  for (const at of diagram.drawnArrows) {
    const [ax, ay, bx, by] = [toX(arrow.left[at]), toY(arrow.from[at]), toX(arrow.left[at] + arrow.flight[at]), toY(arrow.to[at])];
    const [dx, dy] = [bx - ax, by - ay];
    const along = Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1)));
    const distance = Math.hypot(x - ax - along * dx, y - ay - along * dy);
    if (distance < least) [nearest, least] = [at, distance];
  }
  return nearest;
}
