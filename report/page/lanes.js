// Lanes of the diagram as pixels. Each column of a lane shows how its time was divided, so that a
// million pieces look like what they are, and no piece is lost.

const view = { from: 0, to: DURATION, lane: 20, colours: "state" };

// Pixels of states, and of spans by the numbers of their names.
const pixels = { states: [], spans: new Map(), lane: 0 };
function readPixels() {
  pixels.states = STATES.map((state) => pixel(colours[state]));
  pixels.lane = pixel(colours.lane);
  pixels.spans = new Map(spanOrder.map((number) => [number, pixel(spanColour(number))]));
}

// Colour of computing in a piece.
function computingPixel(at) {
  if (view.colours !== "span") return pixels.states[0];
  return pixels.spans.get(piece.span[at]) ?? pixels.states[0];
}

// Pixel of a piece.
const piecePixel = (at) => (piece.state[at] === 0 ? computingPixel(at) : pixels.states[piece.state[at]]);

// Times of a rank in each state up to a time within a piece.
function sumsAt(at, when, sums) {
  for (const state of PRESENT) sums[state] = spent[state][at];
  sums[piece.state[at]] += when - piece.start[at];
}

// Draws the lane of a rank into pixels of this width, from a row on, so many rows high.
function drawLane(rank, buffer, width, row, rows) {
  const first = piece.first[rank], end = piece.first[rank + 1];
  if (first === end) return;
  const scale = (view.to - view.from) / width;
  let x = Math.max(0, Math.floor((life.begin[rank] - view.from) / scale));
  const last = Math.min(width, Math.ceil((life.end[rank] - view.from) / scale));
  const before = new Float64Array(STATES.length), now = new Float64Array(STATES.length);
  let at = Math.max(first, after(piece.start, view.from + x * scale, first, end) - 1);
  sumsAt(at, Math.max(view.from + x * scale, life.begin[rank]), before);
  while (x < last) {
    const until = pieceEnd(rank, at);
    // Whole columns within this piece.
    const whole = Math.min(last, Math.floor((until - view.from) / scale));
    if (whole > x) {
      fill(buffer, width, x, whole, row, rows, piecePixel(at));
      x = whole;
      sumsAt(at, Math.min(view.from + x * scale, until), before);
      continue;
    }
    const when = Math.min(view.from + (x + 1) * scale, life.end[rank]);
    const next = seek(at, when, end);
    sumsAt(next, when, now);
    drawColumn(buffer, width, x, row, rows, before, now, next);
    before.set(now);
    at = next;
    x++;
  }
}

// Piece at a time that is not before this piece: the near ones are looked at first.
function seek(at, when, end) {
  let near = at;
  for (let looked = 0; looked < 8; looked++) {
    if (near + 1 >= end || piece.start[near + 1] > when) return near;
    near++;
  }
  return after(piece.start, when, near, end) - 1;
}

function fill(buffer, width, from, to, row, rows, colour) {
  for (let y = row; y < row + rows; y++) buffer.fill(colour, y * width + from, y * width + to);
}

// Draws one column, divided as its time was.
function drawColumn(buffer, width, x, row, rows, before, now, at) {
  let total = 0;
  for (const state of PRESENT) total += now[state] - before[state];
  if (total <= 0) return;
  let y = row + rows, sum = 0;
  for (const state of STACK) {
    sum += now[state] - before[state];
    const top = row + rows - Math.round((sum / total) * rows);
    const colour = state === 0 ? computingPixel(at) : pixels.states[state];
    for (; y > top; y--) buffer[(y - 1) * width + x] = colour;
  }
}
