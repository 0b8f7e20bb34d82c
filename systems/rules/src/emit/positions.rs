//! Positions in C: their bytes, their text, and the table of functions.

use super::{Emitter, line};
use crate::model::{Contents, Rules};
use crate::numbering::Numbering;

impl Emitter<'_> {
    pub(super) fn positions(&mut self) {
        self.loads();
        self.checks();
        self.first();
        self.texts();
    }

    /// Functions that read and write bytes, the low ones first.
    fn loads(&mut self) {
        let (sets, storage) = (self.sets(), self.storage);
        let bytes = storage.set_bytes;
        let after = storage.bytes - storage.counters;
        line!(self, "{}", include_str!("text.h"));
        line!(self, "static inline struct board load(const uint8_t *p)\n{{\n    struct board b;");
        for (index, set) in sets.iter().enumerate() {
            line!(self, "    b.{set} = read_set(p + {}, {bytes});", index * bytes);
        }
        match storage.number_bits {
            0 => {}
            4 => {
                line!(self, "    for (int cell = 0; cell < CELLS; cell++)");
                line!(self, "        b.at[cell] = p[cell / 2] >> 4 * (cell % 2) & 15;");
            }
            _ => line!(self, "    memcpy(b.at, p, CELLS);"),
        }
        let counters = self.counters();
        for (index, (field, ..)) in counters.iter().enumerate() {
            line!(self, "    b.{field} = p[{}];", after + index);
        }
        line!(self, "    return b;\n}}\n");
        line!(self, "static inline void store(const struct board *b, uint8_t *p)\n{{");
        for (index, set) in sets.iter().enumerate() {
            line!(self, "    write_set(p + {}, {bytes}, b->{set});", index * bytes);
        }
        match storage.number_bits {
            0 => {}
            4 => {
                line!(self, "    memset(p, 0, {after});");
                line!(self, "    for (int cell = 0; cell < CELLS; cell++)");
                line!(self, "        p[cell / 2] |= (uint8_t)(b->at[cell] << 4 * (cell % 2));");
            }
            _ => line!(self, "    memcpy(p, b->at, CELLS);"),
        }
        for (index, (field, ..)) in counters.iter().enumerate() {
            line!(self, "    p[{}] = b->{field};", after + index);
        }
        line!(self, "}}\n");
    }

    /// A function that says if a board is a position.
    fn checks(&mut self) {
        let rules = self.rules;
        let always: Vec<String> =
            rules.always.iter().map(|always| self.expression(always)).collect();
        line!(self, "static int is_position(const struct board *b)\n{{");
        match &rules.contents {
            Contents::Pieces(kinds) => {
                if rules.players == 2 {
                    line!(self, "    if (b->own & b->other)\n        return 0;");
                }
                let all = if rules.players == 2 { "(b->own | b->other)" } else { "b->own" };
                line!(self, "    if ({all} & ~BOARD)\n        return 0;");
                for bit in 0..self.storage.kind_bits {
                    line!(self, "    if (b->kind{bit} & ~{all})\n        return 0;");
                }
                if !kinds.len().is_power_of_two() {
                    let most = usize::from(rules.players) * kinds.len();
                    line!(self, "    for (uint64_t s = {all}; s; s &= s - 1) {{");
                    line!(
                        self,
                        "        if (get(b, s & -s) > {most})\n            return 0;\n    }}"
                    );
                }
            }
            Contents::Numbers { most, once } => {
                line!(self, "    uint64_t there[4] = {{ 0 }};");
                line!(self, "    for (int cell = 0; cell < CELLS; cell++) {{");
                line!(self, "        int number = b->at[cell];");
                line!(self, "        if (number > (BOARD >> cell & 1 ? {most} : 0))");
                line!(self, "            return 0;");
                if *once {
                    line!(self, "        if (there[number / 64] >> number % 64 & 1)");
                    line!(self, "            return 0;");
                }
                line!(self, "        there[number / 64] |= only(number % 64);\n    }}");
            }
        }
        for (field, _, most) in self.counters() {
            line!(self, "    if (b->{field} > {most})\n        return 0;");
        }
        for always in always {
            line!(self, "    if (!({always}))\n        return 0;");
        }
        if self.numbering == Numbering::Counted {
            line!(self, "    if (count_moves(b) > WEFT_GAME_MOST_MOVES)\n        return 0;");
        }
        line!(self, "    return 1;\n}}\n");
    }

    fn first(&mut self) {
        let rules = self.rules;
        line!(self, "static struct board first_board(void)\n{{\n    struct board b;");
        line!(self, "    memset(&b, 0, sizeof b);");
        for (cell, content) in rules.board.first.iter().enumerate().filter(|(_, what)| **what > 0) {
            line!(self, "    put(&b, only({cell}), {content});");
        }
        for (field, first, _) in self.counters() {
            line!(self, "    b.{field} = {first};");
        }
        line!(self, "    return b;\n}}\n");
    }

    /// Functions that read and write positions as pictures, counters behind them.
    fn texts(&mut self) {
        let signs = signs(self.rules);
        let most = signs.len();
        line!(self, "enum {{ CONTENTS = {most} }};");
        let list: Vec<String> = signs.iter().map(|sign| format!("{sign:?}")).collect();
        line!(
            self,
            "static const char *const SIGN[CONTENTS] = {{\n    {}\n}};\n",
            super::listed(&list)
        );
        let counters = self.counters();
        line!(self, "static int parse_counters(const char **text, struct board *b)\n{{");
        line!(self, "    (void)text;\n    (void)b;");
        for (field, _, most) in &counters {
            line!(self, "    if (!parse_counter(text, {most}, &b->{field}))\n        return 0;");
        }
        line!(self, "    return 1;\n}}\n");
        line!(self, "static void print_counters(const struct board *b, char *to, size_t room)\n{{");
        line!(self, "    (void)b;\n    (void)to;\n    (void)room;");
        for (field, ..) in &counters {
            let name = field.replace('_', " ");
            line!(
                self,
                "    append(to, room, \"{name} \");\n    append_number(to, room, b->{field});"
            );
            line!(self, "    append(to, room, \"\\n\");");
        }
        line!(self, "}}\n");
        line!(self, "{}", include_str!("positions.h"));
    }

    pub(super) fn table(&mut self) {
        let rules = self.rules;
        let turn = if rules.players == 2 { "    turn(&b);\n" } else { "" };
        line!(self, "static void play(const void *position, uint8_t move, void *into)\n{{");
        line!(
            self,
            "    struct board b = load(position);\n    make(&b, move);\n{turn}    store(&b, into);\n}}\n"
        );
        let second =
            if rules.players == 1 { ("is_goal", "goal_of") } else { ("longest", "longest_of") };
        for (name, of) in [("value", "value_of"), second] {
            line!(self, "static int {name}(const void *position)\n{{");
            line!(self, "    struct board b = load(position);\n    return {of}(&b);\n}}\n");
        }
        let [is_goal, longest] = match rules.players {
            1 => ["is_goal", "NULL"],
            _ => ["NULL", "longest"],
        };
        line!(self, "const struct weft_game weft_game = {{");
        line!(self, "    .version = WEFT_GAME_VERSION,\n    .players = {},", rules.players);
        line!(self, "    .bytes = {},", self.storage.bytes);
        line!(self, "    .numbers = {},", self.numbering.numbers(rules));
        line!(self, "    .grain = {},\n    .name = {:?},", rules.grain.unwrap_or(0), rules.name);
        line!(
            self,
            "    .first = first,\n    .check = check,\n    .moves = moves,\n    .count = count,"
        );
        line!(self, "    .play = play,\n    .value = value,\n    .is_goal = {is_goal},");
        line!(self, "    .longest = {longest},\n    .parse = parse,\n    .print = print,\n}};");
    }
}

/// Signs of contents, by their numbers.
fn signs(rules: &Rules) -> Vec<String> {
    match &rules.contents {
        Contents::Numbers { most, .. } => (0..=*most).map(|number| number.to_string()).collect(),
        Contents::Pieces(kinds) => {
            let signs = kinds.iter().flat_map(|kind| kind.signs.clone());
            [".".to_owned()].into_iter().chain(signs).collect()
        }
    }
}
