//! Patterns in C: where they match, and what becomes of their cells.

use super::{Emitter, line, word};
use crate::model::{Move, Pattern, Put, Set, Times, Whose};

impl Emitter<'_> {
    /// Cells of `struct board *b` with such contents.
    pub(super) fn set(&self, set: &Set) -> String {
        let mut parts: Vec<String> = Vec::new();
        for (whose, kind) in &set.pieces {
            let owner = match whose {
                Whose::Own => "b->own",
                Whose::Other => "b->other",
            };
            let bits = kind.map_or(0..0, |_| 0..self.storage.kind_bits);
            let bits = bits.map(|bit| match kind.unwrap_or(0) >> bit & 1 {
                1 => format!(" & b->kind{bit}"),
                _ => format!(" & ~b->kind{bit}"),
            });
            parts.push(format!("({owner}{})", bits.collect::<String>()));
        }
        if set.empty {
            let all = if self.rules.players == 2 { "(b->own | b->other)" } else { "b->own" };
            parts.push(format!("(BOARD & ~{all})"));
        }
        parts.extend(set.numbers.iter().map(|(first, last)| format!("among(b, {first}, {last})")));
        let all = if parts.is_empty() { "UINT64_C(0)".into() } else { parts.join(" | ") };
        match set.zone {
            Some(zone) => format!("(({all}) & {})", word(zone)),
            None => format!("({all})"),
        }
    }

    /// A function: the cells in which a pattern begins that goes along a step. It leaves, for each
    /// run, the cells from which the rest behind it matches.
    pub(super) fn matcher(&mut self, name: &str, pattern: &Pattern, steps: &[usize]) {
        let board = &self.rules.board;
        let lines = steps.iter().map(|step| board.longest_line(board.steps[*step]));
        let most = lines.max().unwrap_or(0).saturating_sub(2);
        let tests = &pattern.0;
        line!(self, "INLINE uint64_t {name}(const struct board *b, int step, uint64_t *rest)\n{{");
        line!(self, "    (void)rest;\n    (void)step;");
        let [(first, _), others @ ..] = &tests[..] else { return };
        let Some(((last, _), between)) = others.split_last() else {
            line!(self, "    return {};\n}}\n", self.set(first));
            return;
        };
        let beyond = if last.edge { " | (BOARD & ~INNER[step])" } else { "" };
        line!(self, "    uint64_t s, r = back({}, step){beyond};\n    (void)s;", self.set(last));
        for (index, (set, times)) in between.iter().enumerate().rev() {
            let set = self.set(set);
            if *times == Times::Once {
                line!(self, "    r = back({set} & r, step);");
                continue;
            }
            line!(self, "    if (rest)\n        rest[{}] = r;", index + 1);
            line!(self, "    s = {set} & r;\n    for (int i = 1; i < {most}; i++)");
            line!(self, "        s |= {set} & back(s, step);");
            let also = if *times == Times::Star { "r | " } else { "" };
            line!(self, "    r = {also}back(s, step);");
        }
        line!(self, "    return {} & r;\n}}\n", self.set(first));
    }

    /// A function that changes the cells of a pattern that begins somewhere, and returns the last.
    pub(super) fn changer(&mut self, number: usize, made: &Move) {
        let tests = &made.before.0;
        line!(
            self,
            "INLINE uint64_t change_{number}(const struct board *old, struct board *b, uint64_t \
             site, int step)\n{{"
        );
        line!(self, "    uint64_t c = site;\n    const uint64_t m0 = site;\n    (void)step;");
        if tests.iter().any(|(_, times)| *times != Times::Once) {
            line!(self, "    uint64_t rest[{}];", tests.len());
            line!(self, "    match_move_{number}(old, step, rest);");
        }
        for (index, (_, times)) in tests.iter().enumerate().skip(1) {
            if *times == Times::Once {
                line!(self, "    const uint64_t m{index} = c = ahead(c, step);");
                continue;
            }
            let begin = if *times == Times::Plus { "c = ahead(c, step)" } else { "0" };
            line!(self, "    uint64_t m{index} = {begin};");
            line!(self, "    while (c && !(c & rest[{index}]))");
            line!(self, "        m{index} |= c = ahead(c, step);");
        }
        for index in 0..tests.len() {
            if made.after.contains(&Put::From(index)) {
                line!(self, "    const int was{index} = get(old, m{index});");
            }
        }
        for (index, put) in made.after.iter().enumerate() {
            match put {
                Put::Same => line!(self, "    (void)m{index};"),
                put => line!(self, "    put(b, m{index}, {});", self.content(*put)),
            }
        }
        line!(self, "    (void)old;\n    (void)b;\n    (void)m0;\n    return c;\n}}\n");
    }

    /// Number of a content.
    pub(super) fn content(&self, put: Put) -> String {
        let players = usize::from(self.rules.players);
        match put {
            Put::Same | Put::Empty => "0".into(),
            Put::Piece(whose, kind) => {
                (1 + players * kind + usize::from(whose == Whose::Other)).to_string()
            }
            Put::Number(number) => number.to_string(),
            Put::From(cell) => format!("was{cell}"),
        }
    }
}
