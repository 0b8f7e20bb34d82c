// Bars, tables, the matrix, sizes, utilization.

function legend(id, items) {
  const to = element(id);
  to.replaceChildren();
  for (const [colour, words] of items) {
    const item = add(to, "span");
    add(item, "i").style.background = colour;
    item.append(words);
  }
}

const hasState = (state) => findings.time.some((of) => of[STATES[state] + "_ns"] > 0);
const stateItems = () => STACK.filter(hasState).map((state) => [colours[STATES[state]], STATE_WORDS[state]]);

// Legend of the diagram.
function drawLegend() {
  const spans = view.colours === "span";
  const items = spans
    ? [...spanOrder.slice(0, 10).map((number) => [spanColour(number), text(number)]), ...stateItems().slice(1)]
    : stateItems();
  legend("legend", findings.sampled ? items : [...items, [colours.path, "critical path"]]);
}

// Bar of parts: colour, size, words.
function fillBar(bar, parts, whole) {
  for (const [colour, size, words] of parts) {
    if (size <= 0) continue;
    const part = add(bar, "b");
    part.style.width = (100 * size) / whole + "%";
    part.style.background = colour;
    part.title = words;
  }
}

function drawTime() {
  legend("time-legend", stateItems());
  const rows = element("time");
  rows.classList.toggle("many", RANKS > 40);
  rows.replaceChildren();
  for (const of of inOrder(element("time-order").value)) {
    const row = add(rows, "div", null, "row");
    row.dataset.rank = of.rank;
    add(row, "div", "rank " + of.rank, "name");
    const bar = add(row, "div", null, "bar");
    const parts = STACK.map((state) => {
      const ns = of[STATES[state] + "_ns"];
      return [colours[STATES[state]], ns, `${STATE_WORDS[state]}: ${time(ns)}`];
    });
    fillBar(bar, parts, DURATION);
    add(row, "div", waitsFor(of), "says").title = waitsFor(of);
    row.onclick = () => jump(of.rank, of.begin_ns, of.end_ns);
  }
}

// Times of ranks, the longest first unless it is in the order of ranks.
function inOrder(order) {
  const key = { computing: (of) => of.computing_ns, idle: (of) => of.waiting_ns + of.asleep_ns }[order];
  return key ? [...findings.time].sort((a, b) => key(b) - key(a)) : findings.time;
}

// Words on how busy a rank is, and for whom it waits.
function waitsFor(of) {
  const total = of.end_ns - of.begin_ns;
  const busy = `computes ${percent(of.computing_ns, total)}`;
  const [most] = of.waits_for;
  if (!most || most.ns * 50 < total) return busy;
  const whom = most.rank === null ? NOBODY : "rank " + most.rank;
  return `${busy}, waits for ${whom} ${percent(most.ns, total)}`;
}

// Table with these heads and rows. A cell is a text, or a number with its unit and its share.
function fillTable(id, heads, rows) {
  const to = element(id);
  to.replaceChildren();
  const head = add(add(to, "thead"), "tr");
  for (const [name, kind] of heads) add(head, "th", name, kind);
  const body = add(to, "tbody");
  for (const cells of rows) {
    const row = add(body, "tr");
    cells.forEach((cell, at) => {
      const made = add(row, "td", null, heads[at][1]);
      if (Array.isArray(cell)) {
        made.append(cell[0]);
        add(made, "span", null, "meter").style.width = Math.max(1, 70 * cell[1]) + "px";
      } else made.append(cell);
    });
  }
  return body;
}

function drawWaits() {
  const heads = [["Rank"], ["Idle", "number"], ["At", "number"], ["Waits for"], ["In"], ["Ended by"], ["Who was waited for meanwhile"]];
  const longest = findings.slowest_waits[0]?.idle_ns || 1;
  const body = fillTable("waits", heads, findings.slowest_waits.map((of) => [
    "rank\u00a0" + of.rank,
    [time(of.idle_ns), of.idle_ns / longest],
    moment(of.begin_ns, DURATION / 1e4),
    of.text ?? "—",
    [of.handler && `handler of '${of.handler}'`, of.span].filter(Boolean).join(", ") || "—",
    of.is_open ? "nothing, until its end" : of.ended_by === null ? NOBODY : "rank " + of.ended_by,
    (of.awaited !== null && of.awaited !== of.ended_by ? `rank ${of.awaited}: ` : "") + of.meanwhile.map((it) => it.words).join("; ") || "—",
  ]));
  [...body.rows].forEach((row, at) => {
    const of = findings.slowest_waits[at];
    row.tabIndex = 0;
    row.onclick = () => {
      for (const other of body.rows) other.classList.toggle("chosen", other === row);
      jump(of.rank, of.begin_ns, of.end_ns);
      scroll.scrollIntoView({ block: "center" });
    };
    row.onkeydown = (event) => event.key === "Enter" && row.onclick();
  });
}

function drawKinds() {
  const most = findings.wait_kinds[0]?.idle_ns || 1;
  fillTable("kinds", [["Waits for"], ["Number", "number"], ["Idle in all", "number"], ["Longest", "number"]],
    findings.wait_kinds.map((of) => [
      of.text ?? "not said", thousands(of.count), [time(of.idle_ns), of.idle_ns / most], time(of.longest_ns),
    ]));
}

function drawSpans() {
  const heads = [["Span"], ["Number", "number"], ["Ranks", "number"], ["In all", "number"], ["Computing", "number"], ["Waiting", "number"], ["Handlers", "number"], ["Most at one rank", "number"]];
  const most = findings.spans.reduce((longest, of) => Math.max(longest, of.computing_ns), 1);
  fillTable("spans", heads, findings.spans.map((of) => [
    of.name ?? "outside of spans",
    of.name === null ? "" : thousands(of.count),
    of.name === null ? "" : thousands(of.ranks),
    of.name === null ? "" : time(of.total_ns),
    [time(of.computing_ns), of.computing_ns / most],
    time(of.idle_ns),
    time(of.handler_ns),
    of.name === null ? "" : `${time(of.most_ns)}, rank ${of.most_rank}`,
  ]));
}

function drawHandlers() {
  element("handlers-section").hidden = findings.handlers.length === 0;
  const most = findings.handlers.reduce((longest, of) => Math.max(longest, of.ns), 1);
  fillTable("handlers", [["Port"], ["Runs", "number"], ["In all", "number"], ["In threads of their own", "number"], ["Until their ends", "number"]],
    findings.handlers.map((of) => [
      of.port, thousands(of.runs), [time(of.ns), of.ns / most],
      of.popups ? thousands(of.popups) : "", of.popups ? time(of.popup_ns) : "",
    ]));
}

function drawOrders() {
  element("orders-section").hidden = findings.orders.length === 0;
  fillTable("orders", [["Order"], ["Broadcasts", "number"], ["Handed over", "number"], ["Mean to all ranks", "number"], ["Longest", "number"], ["Which is"]],
    findings.orders.map((of) => [
      of.order, thousands(of.submitted), thousands(of.delivered), time(of.mean_ns), time(of.longest_ns),
      `number ${of.longest_number}, last at rank ${of.longest_rank}`,
    ]));
}

function drawCopies() {
  element("copies-section").hidden = findings.copies.length === 0;
  fillTable("copies", [["Rank"], ["Memory of"], ["Puts", "number"], ["Bytes", "number"], ["Gets", "number"], ["Bytes", "number"]],
    findings.copies.map((of) => [
      "rank " + of.rank, "rank " + of.other, thousands(of.puts), bytes(of.put_bytes), thousands(of.gets), bytes(of.got_bytes),
    ]));
}

// Line of numbers over time, as high as the largest of all ranks.
function lineOf(numbers, most) {
  const points = numbers.map((number, at) => `${at * 3},${(17 - (16 * number) / most).toFixed(1)}`);
  const line = document.createElement("span");
  line.innerHTML = `<svg viewBox="0 0 ${3 * numbers.length} 18" width="${3 * numbers.length}"><polyline points="${points.join(" ")}" fill="none" stroke="currentColor"/></svg>`;
  return line;
}

function drawCounters() {
  const of = findings.sampled;
  element("counters-section").hidden = of === null;
  for (const traced of document.querySelectorAll(".traced")) traced.hidden = of !== null;
  if (of === null) return;
  element("sampled").hidden = false;
  element("sampled").textContent = `Sampled, not traced: ${count(of.looks_per_second, "look")} a second asked for, ${thousands(of.looks)} at each rank made, at most ${time(of.longest_gap_ns)} apart. `
    + "There are no single messages, arrows, spans, handlers or critical path; what a rank does until it sleeps in a wait counts as computing.";
  const over = of.over_time, most = Math.max(1e-9, ...over.bytes_sent.flat());
  const heads = ["Packets sent", "received", "Bytes sent", "received", "Waited for credits", "Sent again", "Interrupts", "Sleeps"];
  fillTable("counters", [["Rank"], ...heads.map((name) => [name, "number"]), [`Bytes sent over time, up to ${bytes(Math.round(most / (over.bin_ns / 1e9)))} a second`]],
    of.counters.map((row) => [
      "rank " + row.rank, thousands(row.packets_sent), thousands(row.packets_received), bytes(row.bytes_sent), bytes(row.bytes_received),
      thousands(row.blocked_sends), thousands(row.retransmissions), thousands(row.interrupts), thousands(row.sleeps), lineOf(over.bytes_sent[row.rank], most),
    ]));
}

function drawCriticalPath() {
  const path = findings.critical_path;
  element("advice").textContent = path.advice + ".";
  const parts = [
    ["computing", colours.computing, "computing"], ["handler", colours.handler, "in handlers"],
    ["flight", colours.path, "packets under way"], ["waking", colours.waiting, "from arrival to the end of the wait"],
    ["waiting", colours.asleep, "waiting for no packet of the trace"], ["lost", colours.lost, "unknown"],
  ].map(([name, colour, words]) => [colour, path[name + "_ns"], `${words}: ${time(path[name + "_ns"])}, ${percent(path[name + "_ns"], path.total_ns)}`]);
  const bar = element("path-bar");
  bar.replaceChildren();
  fillBar(bar, parts, path.total_ns || 1);
  legend("path-legend", parts.filter((part) => part[1] > 0).map(([colour, , words]) => [colour, words]));
  const rows = (parts, name) => parts.slice(0, 12).map((of) => [name(of), [time(of.ns), of.ns / (path.total_ns || 1)], percent(of.ns, path.total_ns)]);
  fillTable("path-ranks", [["Rank"], ["Busy on the path", "number"], ["Share", "number"]], rows(path.ranks, (of) => "rank " + of.rank));
  fillTable("path-spans", [["Span"], ["Busy on the path", "number"], ["Share", "number"]], rows(path.spans, (of) => of.span ?? "outside of spans"));
}

function drawBlame() {
  const most = findings.blame[0]?.in_the_end_ns || 1;
  const of = findings.blame.slice(0, 12);
  fillTable("blame", [["Waited for"], ["Directly", "number"], ["In the end", "number"]],
    of.map((of) => [of.rank === null ? NOBODY : "rank " + of.rank, time(of.direct_ns), [time(of.in_the_end_ns), of.in_the_end_ns / most]]));
}

function drawSizes() {
  const to = element("sizes"), most = Math.max(1, ...findings.traffic.sizes.map((of) => of.packets));
  to.replaceChildren();
  for (const of of findings.traffic.sizes) {
    const range = of.at_least === of.at_most ? bytes(of.at_least) : `${bytes(of.at_least)} to ${of.at_most < 1024 ? bytes(of.at_most) : bytes(of.at_most + 1)}`;
    add(to, "span", range);
    add(to, "b").style.width = (100 * of.packets) / most + "%";
    add(to, "span", count(of.packets, "packet"));
  }
  fillTable("systems", [["System"], ["Data packets", "number"], ["Bytes", "number"], ["Control packets", "number"]],
    findings.traffic.systems.map((of) => [of.name, thousands(of.data_packets), bytes(of.data_bytes), thousands(of.control_packets)]));
  const of = findings.matching;
  element("matching").textContent = `${count(of.matched, "packet")} seen at both ends, ${thousands(of.sent_only)} only when sent, ${thousands(of.received_only)} only when taken.`
    + (of.early ? ` ${thousands(of.early)} were written down as taken before they were as sent.` : "");
}

const matrix = { values: null, most: 0, of: "packets" };

// Blue from light to dark, or from dark to light on dark paper.
function shade(part) {
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  const [low, high] = isDark ? [[30, 42, 58], [158, 214, 255]] : [[224, 236, 247], [8, 48, 107]];
  return low.map((from, at) => Math.round(from + (high[at] - from) * part));
}

function drawMatrix() {
  const of = element("matrix"), ratio = window.devicePixelRatio || 1;
  of.style.maxWidth = Math.min(560, 40 + 64 * RANKS) + "px";
  const size = of.clientWidth || 500;
  of.width = of.height = Math.round(size * ratio);
  const to = of.getContext("2d"), values = cell[matrix.of];
  const most = values.reduce((most, value) => Math.max(most, value), 0);
  const [left, side] = [34 * ratio, of.width - 34 * ratio];
  const each = side / Math.max(1, RANKS), gap = each > 8 * ratio ? ratio : 0;
  Object.assign(matrix, { most, left, each });
  to.fillStyle = colours.lane;
  to.fillRect(left, left, side, side);
  for (let at = 0; at < values.length; at++) {
    if (values[at] === 0 || cell.to[at] >= RANKS) continue;
    to.fillStyle = `rgb(${shade(Math.log1p(values[at]) / Math.log1p(most || 1)).join()})`;
    to.fillRect(left + cell.to[at] * each, left + cell.from[at] * each, Math.max(1, each - gap), Math.max(1, each - gap));
  }
  drawMatrixNames(to, left, each, ratio);
  drawMatrixScale(most);
}

function drawMatrixNames(to, left, each, ratio) {
  const every = [1, 2, 4, 8, 16, 32, 64, 128, 256].find((step) => step * each > 22 * ratio) ?? 512;
  to.fillStyle = colours.soft;
  to.font = `${10.5 * ratio}px system-ui, sans-serif`;
  for (let rank = 0; rank < RANKS; rank += every) {
    to.textAlign = "center";
    to.fillText(rank, left + (rank + 0.5) * each, left - 6 * ratio);
    to.textAlign = "right";
    to.fillText(rank, left - 6 * ratio, left + (rank + 0.5) * each + 4 * ratio);
  }
  to.textAlign = "left";
  to.fillStyle = colours.faint;
  to.fillText("from ↓ to →", 0, 10 * ratio);
}

const amount = (value) => (matrix.of === "bytes" ? bytes(value) : count(value, matrix.of === "control" ? "control packet" : "packet"));

function drawMatrixScale(most) {
  const to = element("matrix-scale");
  to.replaceChildren();
  add(to, "span", "0");
  add(to, "i").style.background = `linear-gradient(90deg, rgb(${shade(0).join()}), rgb(${shade(1).join()}))`;
  add(to, "span", amount(most) + " (logarithmic)");
}

// Says what one rank sent another.
function sayCell(event) {
  const of = element("matrix"), box = of.getBoundingClientRect(), ratio = of.width / box.width;
  const at = (offset) => Math.floor((offset * ratio - matrix.left) / matrix.each);
  const [to, from] = [at(event.clientX - box.left), at(event.clientY - box.top)];
  if (to < 0 || from < 0 || to >= RANKS || from >= RANKS) return hush();
  const found = cellAt(from, to);
  const lines = [`Rank ${from} to rank ${to}`];
  if (found < 0) lines.push("nothing");
  else lines.push(`${count(cell.packets[found], "data packet")}, ${bytes(cell.bytes[found])}`, count(cell.control[found], "control packet"));
  element("cell").textContent = lines.join(": ").replace(/: (\d[^:]* control)/, ", $1");
  say(event, lines);
}

// Index of the cell of two ranks; -1 if they sent nothing. Cells are in order.
function cellAt(from, to) {
  let low = 0, high = cell.from.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (cell.from[middle] < from || (cell.from[middle] === from && cell.to[middle] < to)) low = middle + 1; else high = middle;
  }
  return cell.from[low] === from && cell.to[low] === to ? low : -1;
}

function drawUtilization() {
  const of = element("utilization"), ratio = window.devicePixelRatio || 1, width = of.clientWidth, height = 150;
  of.style.height = height + "px";
  [of.width, of.height] = [width * ratio, height * ratio];
  const to = of.getContext("2d");
  to.setTransform(ratio, 0, 0, ratio, 0, 0);
  const [left, bottom] = [GUTTER, height - 22];
  drawStack(to, left, 4, width - left, bottom - 4);
  to.font = "11px system-ui, sans-serif";
  to.fillStyle = colours.soft;
  to.textAlign = "right";
  for (const part of RANKS % 2 ? [0, 1] : [0, 0.5, 1]) {
    to.fillText(thousands(RANKS * part), left - 8, bottom - part * (bottom - 12) + 3);
  }
  to.textAlign = "center";
  const [step, from] = ticks(0, DURATION, (width - left) / 110);
  for (let when = from; when <= DURATION; when += step) {
    const x = left + (when / DURATION) * (width - left);
    to.fillText(moment(when, step), Math.min(Math.max(x, left + 16), width - 28), height - 5);
  }
}

function drawClocks() {
  element("clocks-section").hidden = findings.clocks.length < 2;
  fillTable("clocks", [["Host"], ["Drift", "number"], ["Uncertain by", "number"]],
    findings.clocks.map((of) => [
      of.host,
      (of.drift * 1e6).toFixed(2) + " ppm",
      of.uncertainty_ns === null ? "unknown: no packets both ways" : time(of.uncertainty_ns),
    ]));
}
