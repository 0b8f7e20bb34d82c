//! The generator of C: rules to a library that exports `weft_game`.
//!
//! Sets of cells are words of a bit each. What a pattern needs is found for all cells at once: from
//! its last test to its first one, the cells from which the rest matches, moved a step back.

use crate::model::{Contents, Outcome, Rules, Turn};
use crate::numbering::Numbering;
use crate::storage::Storage;

mod expressions;
mod moves;
mod patterns;
mod positions;

/// Beginning of all libraries.
const PRELUDE: &str = include_str!("emit/prelude.h");

/// The C of rules.
pub fn emit(rules: &Rules) -> String {
    let mut emitter = Emitter {
        rules,
        storage: Storage::of(rules),
        numbering: Numbering::of(rules),
        text: String::new(),
        helpers: 0,
    };
    emitter.geometry();
    emitter.board();
    emitter.turned();
    emitter.ends();
    emitter.moves();
    emitter.values();
    emitter.positions();
    emitter.table();
    emitter.text
}

/// Writes a line of C.
macro_rules! line {
    ($emitter:expr, $($arguments:tt)*) => {{
        let line = format!($($arguments)*);
        $emitter.text.push_str(&line);
        $emitter.text.push('\n');
    }};
}
pub(crate) use line;

struct Emitter<'r> {
    rules: &'r Rules,
    storage: Storage,
    numbering: Numbering,
    text: String,
    /// Number of functions that expressions have needed.
    helpers: usize,
}

impl Emitter<'_> {
    fn geometry(&mut self) {
        let board = &self.rules.board;
        line!(self, "// Rules of {}, from a text.\n", self.rules.name);
        line!(self, "{PRELUDE}");
        line!(self, "enum {{ CELLS = {}, WIDTH = {} }};", board.cells(), board.width);
        line!(self, "#define BOARD {}\n", word(board.places));
        let inner: Vec<u64> = board.steps.iter().map(|step| board.inner(*step)).collect();
        let cells = board.cells() as i32;
        let shifts = board.steps.iter().zip(&inner).map(|(step, inner)| match *inner {
            0 => 1,
            _ if board.is_ring => board.shift(*step).rem_euclid(cells),
            _ => board.shift(*step),
        });
        let shifts: Vec<String> = shifts.map(|shift| shift.to_string()).collect();
        let inner: Vec<String> = inner.into_iter().map(word).collect();
        line!(
            self,
            "// Steps: how far cells are apart, and the cells from which they can be made."
        );
        line!(self, "static UNUSED const int SHIFT[] = {{ {} }};", listed(&shifts));
        line!(self, "static UNUSED const uint64_t INNER[] = {{ {} }};\n", listed(&inner));
        let [ahead, back] = match board.is_ring {
            true => [
                "(s << SHIFT[step] | s >> (CELLS - SHIFT[step])) & BOARD",
                "(s >> SHIFT[step] | s << (CELLS - SHIFT[step])) & BOARD",
            ],
            false => [
                "SHIFT[step] > 0 ? (s & INNER[step]) << SHIFT[step] : (s & INNER[step]) >> \
                 -SHIFT[step]",
                "(SHIFT[step] > 0 ? s >> SHIFT[step] : s << -SHIFT[step]) & INNER[step]",
            ],
        };
        line!(self, "INLINE uint64_t ahead(uint64_t s, int step)\n{{\n    return {ahead};\n}}\n");
        line!(self, "INLINE uint64_t back(uint64_t s, int step)\n{{\n    return {back};\n}}\n");
        let width = board.width;
        let table = |of: &dyn Fn(usize) -> usize| {
            listed(&(0..64).map(|cell| of(cell).to_string()).collect::<Vec<_>>())
        };
        line!(self, "static UNUSED const uint8_t ROW[64] = {{ {} }};", table(&|cell| cell / width));
        line!(
            self,
            "static UNUSED const uint8_t COLUMN[64] = {{ {} }};",
            table(&|cell| cell % width)
        );
        let flip = self.rules.turn == Turn::Flip;
        let turned = |cell: usize| board.turned(cell % board.cells(), flip);
        line!(self, "static UNUSED const uint8_t TURN[64] = {{ {} }};\n", table(&turned));
    }

    fn board(&mut self) {
        let sets: Vec<String> = self.sets();
        line!(self, "struct board {{");
        for set in &sets {
            line!(self, "    uint64_t {set};");
        }
        if sets.is_empty() {
            line!(self, "    uint8_t at[CELLS];");
        }
        for counter in self.counters() {
            line!(self, "    uint8_t {};", counter.0);
        }
        line!(self, "}};\n");
        match &self.rules.contents {
            Contents::Pieces(_) => self.pieces(),
            Contents::Numbers { .. } => line!(self, "{}", include_str!("emit/numbers.h")),
        }
    }

    /// Names of the sets of cells.
    fn sets(&self) -> Vec<String> {
        let players = usize::from(self.rules.players);
        let owners = ["own", "other"].into_iter().map(str::to_owned).take(players);
        let kinds = (0..self.storage.kind_bits).map(|bit| format!("kind{bit}"));
        if self.storage.sets == 0 { Vec::new() } else { owners.chain(kinds).collect() }
    }

    /// Fields of counters, their first and largest values.
    fn counters(&self) -> Vec<(String, u8, u8)> {
        let fields = self.rules.counters.iter().flat_map(|counter| {
            let owners = if counter.each { &["own", "other"][..] } else { &["both"] };
            let (first, most) = (counter.first, counter.most);
            owners.iter().map(move |owner| (field(owner, &counter.name), first, most))
        });
        fields.collect()
    }

    /// Functions that look at pieces and put them, by the numbers of contents.
    fn pieces(&mut self) {
        let players = self.rules.players;
        let kind = |of: &dyn Fn(usize) -> String| {
            let bits: Vec<String> = (0..self.storage.kind_bits).map(of).collect();
            if bits.is_empty() { "0".to_owned() } else { bits.join(" | ") }
        };
        let kind = kind(&|bit| format!("(b->kind{bit} & m ? {} : 0)", 1 << bit));
        line!(self, "// Content of a cell: 0 for nothing, and a number for each piece.");
        line!(self, "INLINE int get(const struct board *b, uint64_t m)\n{{");
        line!(self, "    int kind = {kind};");
        line!(self, "    if (b->own & m)\n        return 1 + {players} * kind;");
        if players == 2 {
            line!(self, "    if (b->other & m)\n        return 2 + 2 * kind;");
        }
        line!(self, "    return 0;\n}}\n");
        line!(self, "INLINE void put(struct board *b, uint64_t m, int content)\n{{");
        let owners = ["own", "other"].into_iter().take(players.into()).enumerate();
        for (number, owner) in owners {
            let is = format!("content > 0 && (content - 1) % {players} == {number}");
            line!(self, "    b->{owner} = {is} ? b->{owner} | m : b->{owner} & ~m;");
        }
        for bit in 0..self.storage.kind_bits {
            let is = format!("content > 0 && ((content - 1) / {players} >> {bit} & 1)");
            line!(self, "    b->kind{bit} = {is} ? b->kind{bit} | m : b->kind{bit} & ~m;");
        }
        line!(self, "}}\n");
    }

    /// The board as the other player sees it.
    fn turned(&mut self) {
        if self.rules.players == 1 {
            return;
        }
        let moves = self.rules.turn != Turn::Same;
        if moves && self.storage.sets > 0 {
            line!(
                self,
                "{}",
                match self.rules.turn {
                    Turn::Half if !self.rules.board.is_ring => include_str!("emit/half.h"),
                    _ => include_str!("emit/flip.h"),
                }
            );
        }
        line!(self, "static inline void turn(struct board *b)\n{{\n    struct board old = *b;");
        let sets = self.sets();
        for set in &sets {
            let other = match set.as_str() {
                "own" => "other",
                "other" => "own",
                kind => kind,
            };
            let set_of =
                if moves { format!("turned(old.{other})") } else { format!("old.{other}") };
            line!(self, "    b->{set} = {set_of};");
        }
        if sets.is_empty() && moves {
            line!(self, "    for (int cell = 0; cell < CELLS; cell++)");
            line!(self, "        b->at[TURN[cell]] = old.at[cell];");
        }
        for counter in self.rules.counters.iter().filter(|counter| counter.each) {
            let [own, other] = ["own", "other"].map(|owner| field(owner, &counter.name));
            line!(self, "    b->{own} = old.{other};\n    b->{other} = old.{own};");
        }
        line!(self, "}}\n");
    }

    /// A function that says if the game is over, and how, but for who is stuck.
    fn ends(&mut self) {
        let ends: Vec<_> = self.rules.ends.iter().filter(|end| end.when.is_some()).collect();
        let tests: Vec<(String, String)> = ends
            .into_iter()
            .map(|end| {
                let when = end.when.as_ref().map_or(String::new(), |when| self.expression(when));
                (when, self.outcome(&end.outcome))
            })
            .collect();
        line!(self, "static inline int over(const struct board *b, int *outcome)\n{{");
        line!(self, "    (void)b;\n    (void)outcome;");
        for (when, outcome) in tests {
            line!(
                self,
                "    if ({when}) {{\n        *outcome = {outcome};\n        return 1;\n    }}"
            );
        }
        line!(self, "    return 0;\n}}\n");
    }

    fn outcome(&mut self, outcome: &Outcome) -> String {
        match outcome {
            Outcome::Win => "WEFT_GAME_WIN".into(),
            Outcome::Loss => "-WEFT_GAME_WIN".into(),
            Outcome::Draw => "0".into(),
            Outcome::Score(value) => format!("clipped({})", self.expression(value)),
        }
    }

    /// Functions about values of positions.
    fn values(&mut self) {
        let stuck = self.rules.ends.iter().find(|end| end.when.is_none());
        let stuck = stuck.map(|end| self.outcome(&end.outcome));
        if self.rules.players == 1 {
            let goal = self.rules.goal.clone().map_or("0".into(), |goal| self.expression(&goal));
            line!(self, "static int goal_of(const struct board *b)\n{{\n    return {goal};\n}}\n");
            let bound = match self.rules.bound.clone() {
                Some(bound) => format!("clipped({})", self.expression(&bound)),
                None => "!goal_of(b)".into(),
            };
            line!(
                self,
                "static int value_of(const struct board *b)\n{{\n    return {bound};\n}}\n"
            );
            return;
        }
        let value = self.rules.value.clone();
        let value = value.map_or("0".into(), |value| self.expression(&value));
        let longest = self.rules.longest.clone();
        let longest = longest.map_or("65535".into(), |value| self.expression(&value));
        line!(self, "static int longest_of(const struct board *b)\n{{\n    (void)b;");
        line!(self, "    return {longest};\n}}\n");
        line!(self, "static int value_of(const struct board *b)\n{{\n    int outcome;");
        line!(self, "    if (over(b, &outcome))\n        return outcome;");
        if let Some(stuck) = stuck {
            line!(self, "    if (count_of(b) == 0)\n        return {stuck};");
        }
        line!(self, "    return clipped({value});\n}}\n");
    }
}

/// A word of C.
fn word(value: u64) -> String {
    format!("UINT64_C({value:#x})")
}

/// Entries of a list, eight a line.
fn listed(entries: &[String]) -> String {
    let lines: Vec<String> = entries.chunks(16).map(|chunk| chunk.join(", ")).collect();
    if lines.is_empty() { "0".into() } else { lines.join(",\n    ") }
}

/// Field of a counter.
fn field(owner: &str, name: &str) -> String {
    format!("{owner}_{}", name.replace('-', "_"))
}
