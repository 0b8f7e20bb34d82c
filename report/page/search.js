// Search by rank, port, span and text of a wait.

const MOST_MATCHES = 100000;
const search = { at: -1 };

// Number of a rank that a query is; -1 if it is none.
function rankOf(query) {
  const found = /^(?:rank )?(\d+)$/.exec(query);
  return found && Number(found[1]) < RANKS ? Number(found[1]) : -1;
}

// Stretches of time that match a query, in the order of time.
function matches(query) {
  const rank = rankOf(query);
  if (rank >= 0) return [{ rank, from: life.begin[rank], to: life.end[rank] }];
  const wanted = known.texts.map((of) => of !== "" && of.toLowerCase().includes(query));
  const found = [];
  for (let rank = 0; rank < RANKS; rank++) {
    for (let at = wait.first[rank]; at < wait.first[rank + 1]; at++) {
      if (wanted[wait.text[at]]) found.push({ rank, from: wait.begin[at], to: wait.end[at] });
    }
    addPieces(rank, wanted, found);
    if (found.length > MOST_MATCHES) break;
  }
  return found.sort((a, b) => a.from - b.from || a.rank - b.rank);
}

// Adds stretches within spans and handlers of these names; neighbours are one.
function addPieces(rank, wanted, found) {
  let open = null;
  for (let at = piece.first[rank]; at < piece.first[rank + 1]; at++) {
    const isIn = wanted[piece.span[at]] || wanted[piece.port[at]];
    if (isIn && open) open.to = pieceEnd(rank, at);
    else if (isIn) found.push((open = { rank, from: piece.start[at], to: pieceEnd(rank, at) }));
    else open = null;
  }
}

function find(query) {
  query = query.trim().toLowerCase();
  diagram.marks = query === "" ? [] : matches(query);
  search.at = -1;
  if (diagram.marks.length === 0) diagram.chosen = null;
  sayFound(query);
  ask();
}

function sayFound(query) {
  const found = diagram.marks.length;
  const place = search.at < 0 ? "" : `${thousands(search.at + 1)} of `;
  element("found").textContent = query === "" ? "" : found === 0 ? "nothing" : place + thousands(found);
  element("next").disabled = element("previous").disabled = found === 0;
}

// Goes to the next match, or to the one before.
function goOn(by) {
  const found = diagram.marks.length;
  if (found === 0) return;
  search.at = search.at < 0 && by < 0 ? found - 1 : (search.at + by + found) % found;
  const { rank, from, to } = diagram.marks[search.at];
  jump(rank, from, to);
  sayFound(element("search").value);
}
