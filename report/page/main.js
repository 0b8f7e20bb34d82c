// The page, put together, and what pointers and keys do.

function drawHead() {
  element("program").textContent = findings.program || "A run";
  const hosts = new Set(findings.time.map((of) => of.host)).size;
  const link = findings.options.link ? findings.options.link + " · " : "";
  element("facts").textContent = `${count(RANKS, "rank")} on ${count(hosts, "host")} · ${link}${time(findings.duration_ns)} · ${count(findings.events, "event")}`
    + (findings.is_simulated ? " · simulated: times are virtual" : "");
  const alarms = [];
  if (findings.lost_events) alarms.push(`${count(findings.lost_events, "event")} lost: ranks wrote more than was taken from them in time. Times marked unknown, and packets of them, are missing below.`);
  if (findings.is_cut) alarms.push("The file ends before its time: the end of the run is missing.");
  element("lost").hidden = alarms.length === 0;
  element("lost").textContent = alarms.join(" ");
  for (const sentence of findings.verdict) add(element("verdict"), "p", sentence);
}

// Draws all that depends on colours and sizes.
function drawAll() {
  readColours();
  readPixels();
  drawTime();
  drawLegend();
  drawCriticalPath();
  drawUtilization();
  drawMatrix();
  layOut();
}

function onWheel(event) {
  event.preventDefault();
  const box = canvas.getBoundingClientRect();
  const unit = event.deltaMode === 1 ? 16 : 1;
  if (event.ctrlKey || event.altKey) {
    setLane(view.lane * (event.deltaY < 0 ? 1.25 : 0.8));
  } else if (event.shiftKey) {
    scroll.scrollTop += (event.deltaY || event.deltaX) * unit;
  } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
    pan((event.deltaX * unit) / (diagram.width - GUTTER));
  } else {
    zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY * unit * 0.003))), toTime(Math.max(GUTTER, event.clientX - box.left)));
  }
}

// Moves by a part of what is in sight.
function pan(part) {
  const by = part * (view.to - view.from);
  show(view.from + by, view.to + by);
}

const drag = { x: 0, y: 0, isOn: false };

function onPointer(event) {
  if (event.type === "pointerdown") {
    Object.assign(drag, { x: event.clientX, y: event.clientY, isOn: true });
    // A pointer that a script made up cannot be captured.
    if (event.isTrusted) canvas.setPointerCapture(event.pointerId);
    canvas.classList.add("dragging");
  } else if (event.type === "pointermove" && drag.isOn) {
    pan(-(event.clientX - drag.x) / (diagram.width - GUTTER));
    scroll.scrollTop -= event.clientY - drag.y;
    Object.assign(drag, { x: event.clientX, y: event.clientY });
    hush();
  } else if (event.type === "pointermove") {
    sayAt(event);
  } else {
    drag.isOn = false;
    canvas.classList.remove("dragging");
    if (event.type === "pointerleave") hush();
  }
}

const middle = () => (view.from + view.to) / 2;
const KEYS = {
  ArrowLeft: () => pan(-0.2),
  ArrowRight: () => pan(0.2),
  ArrowUp: () => { scroll.scrollTop -= view.lane * 3; },
  ArrowDown: () => { scroll.scrollTop += view.lane * 3; },
  "+": () => zoom(0.6, middle()),
  "=": () => zoom(0.6, middle()),
  "-": () => zoom(1 / 0.6, middle()),
  0: () => reset(),
  Home: () => reset(),
  "]": () => setLane(view.lane * 1.25),
  "[": () => setLane(view.lane * 0.8),
  n: () => goOn(1),
  p: () => goOn(-1),
};

function reset() {
  diagram.chosen = null;
  show(0, DURATION);
}

// Moves the view to where in the overview the pointer is.
function onOverview(event) {
  if (event.type === "pointermove" && event.buttons === 0) return;
  const box = overview.getBoundingClientRect();
  const at = ((event.clientX - box.left - GUTTER) / (box.width - GUTTER)) * DURATION;
  const half = (view.to - view.from) / 2;
  show(at - half, at + half);
}

function listen() {
  canvas.addEventListener("wheel", onWheel, { passive: false });
  for (const type of ["pointerdown", "pointermove", "pointerup", "pointercancel", "pointerleave"]) canvas.addEventListener(type, onPointer);
  for (const type of ["pointerdown", "pointermove"]) overview.addEventListener(type, onOverview);
  canvas.addEventListener("keydown", (event) => {
    if (!KEYS[event.key] || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    KEYS[event.key]();
  });
  scroll.addEventListener("scroll", ask);
  element("zoom-in").onclick = KEYS["+"];
  element("zoom-out").onclick = KEYS["-"];
  element("reset").onclick = reset;
  element("next").onclick = KEYS.n;
  element("previous").onclick = KEYS.p;
  element("search").oninput = (event) => find(event.target.value);
  element("search").onkeydown = (event) => event.key === "Enter" && goOn(event.shiftKey ? -1 : 1);
  element("colours").onchange = (event) => {
    view.colours = event.target.value;
    drawLegend();
    ask();
  };
  element("time-order").onchange = drawTime;
  for (const id of ["show-arrows", "show-control", "show-path"]) element(id).onchange = ask;
  element("matrix-of").onchange = (event) => {
    matrix.of = event.target.value;
    drawMatrix();
  };
  element("matrix").addEventListener("pointermove", sayCell);
  element("matrix").addEventListener("pointerleave", hush);
  element("utilization").addEventListener("pointermove", sayUtilization);
  element("utilization").addEventListener("pointerleave", hush);
  window.addEventListener("resize", drawAll);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
}

drawHead();
drawWaits();
drawKinds();
drawBlame();
drawSpans();
drawHandlers();
drawOrders();
drawCopies();
drawCounters();
drawSizes();
drawClocks();
listen();
drawAll();
document.body.dataset.ready = "yes";
