// What a reader does with a page, and what it says then. `given` is what the test knows.

// Without a screen there are no frames: one comes whenever nothing else is to be done.
window.requestAnimationFrame = (then) => setTimeout(then, 0);
diagram.isAsked = false;
ask();

const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
const words = (id) => document.getElementById(id).textContent;
const dataset = (id) => ({ ...document.getElementById(id).dataset });

// Place on the screen of a time in a rank's lane, in whole pixels, which events have.
function place(rank, when) {
  const box = canvas.getBoundingClientRect();
  return { clientX: Math.round(box.left + toX(when)), clientY: Math.round(box.top + toY(rank)), bubbles: true, cancelable: true };
}

function hoverAt(rank, when) {
  canvas.dispatchEvent(new PointerEvent("pointermove", place(rank, when)));
  return document.getElementById("hover").hidden ? "" : words("hover");
}

// Colour of the diagram at a time in a rank's lane, as the name of a state.
function stateAt(rank, when) {
  const ratio = canvas.width / diagram.width;
  const [x, y] = [Math.round(toX(when) * ratio), Math.round(toY(rank) * ratio)];
  const [red, green, blue] = canvas.getContext("2d").getImageData(x, y, 1, 1).data;
  const hex = "#" + [red, green, blue].map((part) => part.toString(16).padStart(2, "0")).join("");
  return STATES.find((state) => colours[state] === hex) ?? hex;
}

async function look(told) {
  told.verdict = [...document.querySelectorAll("#verdict p")].map((of) => of.textContent);
  told.facts = words("facts");
  told.isLostShown = !document.getElementById("lost").hidden;
  told.lost = words("lost");
  told.rows = document.querySelectorAll("#time .row").length;
  told.firstRow = document.querySelector("#time .row .says").textContent;
  told.waits = document.querySelectorAll("#waits tbody tr").length;
  told.systems = words("systems");
  told.beside = ["handlers", "orders", "copies"].map((id) => document.querySelectorAll(`#${id} tbody tr`).length);
  told.matching = words("matching");
  told.whole = dataset("view");
}

async function clickWait(told) {
  document.querySelectorAll("#waits tbody tr")[given.wait.row].click();
  await frame();
  told.afterClick = dataset("view");
  // Where a packet is, the packet is said.
  document.getElementById("show-arrows").click();
  await frame();
  told.waitHover = hoverAt(given.wait.rank, given.wait.middle);
}

async function zoomAndDrag(told) {
  const at = place(given.wait.rank, given.wait.middle);
  const under = () => toTime(at.clientX - canvas.getBoundingClientRect().left);
  told.underBefore = under();
  canvas.dispatchEvent(new WheelEvent("wheel", { ...at, deltaY: -200 }));
  await frame();
  told.afterZoom = dataset("view");
  told.underAfter = under();
  canvas.dispatchEvent(new PointerEvent("pointerdown", at));
  canvas.dispatchEvent(new PointerEvent("pointermove", { ...at, clientX: at.clientX + 100 }));
  canvas.dispatchEvent(new PointerEvent("pointerup", at));
  await frame();
  told.afterDrag = dataset("view");
  told.dragged = 100 / (diagram.width - GUTTER);
}

async function findText(told) {
  const input = document.getElementById("search");
  input.value = given.query;
  input.dispatchEvent(new Event("input"));
  told.found = words("found");
  input.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
  await frame();
  told.firstFound = words("found");
  told.afterFind = dataset("view");
  input.value = "rank " + (given.ranks - 1);
  input.dispatchEvent(new Event("input"));
  input.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
  await frame();
  told.lastLane = { y: toY(given.ranks - 1), height: diagram.height };
  input.value = "";
  input.dispatchEvent(new Event("input"));
}

async function lookAtPacket(told) {
  const { from, left, arrived } = given.arrow;
  document.getElementById("show-path").click();
  document.getElementById("show-arrows").click();
  show(left - 3 * (arrived - left), arrived + 3 * (arrived - left));
  reveal(from);
  await frame();
  told.arrowsNote = words("arrows-note");
  told.arrowsView = { ...dataset("view"), first: firstLane(), lanes: (diagram.height - AXIS) / view.lane };
  const box = canvas.getBoundingClientRect();
  const x = box.left + (toX(left) + toX(arrived)) / 2, y = box.top + (toY(from) + toY(given.arrow.to)) / 2;
  canvas.dispatchEvent(new PointerEvent("pointermove", { clientX: x, clientY: y }));
  told.arrowHover = words("hover");
}

// Points at these packets a third of the way along them, where no other crosses them.
async function lookAtPackets(told) {
  for (const id of ["show-path", "show-arrows"]) document.getElementById(id).checked = id === "show-arrows";
  told.arrowHovers = [];
  for (const { from, to, left, arrived } of given.arrows) {
    show(left - 2 * (arrived - left), arrived + 2 * (arrived - left));
    reveal(from);
    await frame();
    const box = canvas.getBoundingClientRect(), third = (a, b) => a + (b - a) / 3;
    const at = { clientX: box.left + third(toX(left), toX(arrived)), clientY: box.top + third(toY(from), toY(to)) };
    canvas.dispatchEvent(new PointerEvent("pointermove", at));
    told.arrowHovers.push(words("hover"));
  }
  document.getElementById("show-path").checked = true;
}

// Adds up what the page has, and what it says.
async function addUp(told) {
  const sum = (of) => of.reduce((all, one) => all + one, 0);
  const number = (of) => Number(of.textContent.replace(/[^0-9]/g, ""));
  const ends = arrow.left.map((left, at) => left + arrow.flight[at]);
  told.cells = { packets: sum(cell.packets), bytes: sum(cell.bytes), control: sum(cell.control) };
  told.sizes = sum([...document.querySelectorAll("#sizes span:nth-child(3n)")].map(number));
  told.ofSystems = [2, 4].map((column) => sum([...document.querySelectorAll(`#systems tbody td:nth-child(${column})`)].map(number)));
  told.allArrows = {
    number: arrow.left.length,
    places: sum([...arrow.from].map((from, at) => from * 65536 + arrow.to[at])),
    left: sum(arrow.left), arrived: sum(ends),
    backward: [...arrow.flight].filter((flight) => flight < 0).length,
    isInOrder: arrow.left.every((left, at) => at === 0 || left >= arrow.left[at - 1]),
  };
  told.states = [...Array(RANKS).keys()].map((rank) => {
    const times = STATES.map(() => 0);
    for (let at = piece.first[rank]; at < piece.first[rank + 1]; at++) {
      if (pieceEnd(rank, at) < piece.start[at]) told.errors.push(`time goes backward at rank ${rank}`);
      times[piece.state[at]] += pieceEnd(rank, at) - piece.start[at];
    }
    return times;
  });
}

async function lookAtStates(told) {
  document.getElementById("show-arrows").click();
  told.colours = [];
  for (const { rank, begin, end } of given.pieces) {
    show(begin - (end - begin), end + (end - begin));
    reveal(rank);
    await frame();
    told.colours.push(stateAt(rank, (begin + end) / 2));
  }
  canvas.dispatchEvent(new KeyboardEvent("keydown", { key: "0" }));
  await frame();
  told.afterReset = dataset("view");
}

async function lookAtMatrix(told) {
  const of = document.getElementById("matrix"), box = of.getBoundingClientRect();
  const ratio = box.width / of.width, at = (rank) => (matrix.left + (rank + 0.5) * matrix.each) * ratio;
  of.dispatchEvent(new PointerEvent("pointermove", { clientX: box.left + at(given.cell.to), clientY: box.top + at(given.cell.from) }));
  told.cell = words("hover");
}

async function lookAtUtilization(told) {
  const of = document.getElementById("utilization"), box = of.getBoundingClientRect();
  const x = box.left + GUTTER + (box.width - GUTTER) * 0.5025;
  of.dispatchEvent(new PointerEvent("pointermove", { clientX: x, clientY: box.top + 20 }));
  told.utilization = words("hover");
}

async function lookAtSampled(told) {
  told.sampled = words("sampled");
  told.shown = [...document.querySelectorAll(".traced")].filter((of) => of.offsetParent !== null).map((of) => of.textContent);
  told.counters = [...document.querySelectorAll("#counters tbody tr")].map((of) => of.textContent);
}

const ACTS = {
  all: [look, addUp, clickWait, zoomAndDrag, findText, lookAtPacket, lookAtStates, lookAtPackets, lookAtMatrix, lookAtUtilization],
  sums: [look, addUp, lookAtPackets],
  sampled: [look, lookAtSampled],
};

(async () => {
  const told = { errors: [] };
  window.addEventListener("error", (event) => told.errors.push(event.message));
  try {
    await frame();
    for (const act of ACTS[given.acts]) await act(told);
  } catch (error) {
    told.errors.push(String(error.stack));
  }
  document.body.innerHTML = "";
  document.head.innerHTML = "";
  add(document.body, "pre", btoa(unescape(encodeURIComponent(JSON.stringify(told))))).id = "told";
})();
