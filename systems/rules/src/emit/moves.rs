//! Moves in C: which there are, and what they do.

use super::{Emitter, line};
use crate::model::{Action, Along, Become, Expression, Move, Whose};
use crate::numbering::{Numbering, only_place, ways};

impl Emitter<'_> {
    pub(super) fn moves(&mut self) {
        let rules = self.rules;
        self.becomes(&rules.becomes);
        for (number, made) in rules.moves.iter().enumerate() {
            let steps = match &made.along {
                Along::Nowhere => &[][..],
                Along::One(steps) | Along::Each(steps) => steps,
            };
            line!(self, "// {}", made.name);
            self.matcher(&format!("match_move_{number}"), &made.before, steps);
            self.changer(number, made);
            self.maker(number, made);
        }
        match self.numbering.clone() {
            Numbering::Fixed { bases } => self.fixed(&bases),
            Numbering::Counted => self.counted(),
        }
        self.passing();
    }

    /// A function that says what becomes of the piece that has arrived, and if its move is over.
    fn becomes(&mut self, becomes: &[Become]) {
        line!(
            self,
            "INLINE int become(struct board *b, uint64_t m)\n{{\n    (void)b;\n    (void)m;"
        );
        for one in becomes {
            line!(self, "    if (m & {}) {{", self.set(&one.from));
            line!(self, "        put(b, m, {});", self.content(one.into));
            line!(self, "        return {};\n    }}", i32::from(one.stops));
        }
        line!(self, "    return 0;\n}}\n");
    }

    /// The places where a move may begin, and a function that makes it: 0 if it is none after all.
    fn maker(&mut self, number: usize, made: &Move) {
        let condition = made.condition.as_ref().map(|condition| self.expression(condition));
        let actions: Vec<String> = made.actions.iter().map(|action| self.action(action)).collect();
        if let Along::Each(steps) = &made.along {
            line!(self, "INLINE uint64_t sites_{number}(const struct board *b)\n{{");
            let all: Vec<String> =
                steps.iter().map(|step| format!("match_move_{number}(b, {step}, NULL)")).collect();
            line!(self, "    return {};\n}}\n", all.join("\n        | "));
        }
        line!(
            self,
            "INLINE int make_{number}(struct board *b, uint64_t site, int step, uint64_t \
             *arrived)\n{{"
        );
        line!(self, "    const struct board old = *b;\n    int cell = lowest(site);");
        line!(self, "    (void)cell;\n    (void)step;\n    *arrived = site;");
        if let Some(condition) = condition {
            line!(self, "    if (!({condition}))\n        return 0;");
        }
        match &made.along {
            Along::Each(steps) => {
                for step in steps {
                    line!(self, "    if (site & match_move_{number}(&old, {step}, NULL))");
                    line!(self, "        change_{number}(&old, b, site, {step});");
                }
            }
            _ => line!(self, "    *arrived = change_{number}(&old, b, site, step);"),
        }
        for action in actions {
            line!(self, "{action}");
        }
        line!(self, "    return 1;\n}}\n");
    }

    fn action(&mut self, action: &Action) -> String {
        match action {
            Action::Need(condition) => {
                format!("    if (!({}))\n        return 0;", self.expression(condition))
            }
            Action::Let(counter, whose, value) => {
                let value = self.expression(value);
                self.count_up(*counter, *whose, &value, "    ")
            }
            Action::Sow { past_start } => {
                let past = if *past_start { " + (next == lowest(site))" } else { "" };
                let most = self.most();
                format!(
                    "    for (int seeds = old.at[cell], start = cell; seeds > 0; seeds--) {{\n        \
                     int next = (cell + 1) % CELLS;\n        cell = (next{past}) % CELLS;\n        \
                     (void)start;\n        if (++b->at[cell] > {most})\n            return 0;\n    \
                     }}"
                )
            }
            Action::Collect { during, into, keeping } => {
                self.collect(during, *into, keeping.as_ref())
            }
        }
    }

    fn collect(
        &mut self,
        during: &Expression,
        into: (usize, Whose),
        keeping: Option<&Expression>,
    ) -> String {
        let during = self.expression(during);
        let keeping = keeping.map_or("1".into(), |keeping| self.expression(keeping));
        let total = format!("b->{} + taken", self.counter(into.0, into.1));
        let counted = self.count_up(into.0, into.1, &total, "        ");
        format!(
            "    {{\n        const struct board sown = *b;\n        int taken = 0;\n        for (int \
             i = 0; i < CELLS && ({during}); i++) {{\n            taken += b->at[cell];\n            \
             b->at[cell] = 0;\n            cell = (cell + CELLS - 1) % CELLS;\n        }}\n        \
             if (!({keeping})) {{\n            *b = sown;\n            taken = 0;\n        \
             }}\n{counted}\n    }}"
        )
    }

    /// A new value of a counter, within its limits.
    fn count_up(&self, counter: usize, whose: Whose, value: &str, indent: &str) -> String {
        let most = self.rules.counters[counter].most;
        let field = self.counter(counter, whose);
        format!(
            "{indent}{{\n{indent}    int value = {value};\n{indent}    if (value < 0 || value > \
             {most})\n{indent}        return 0;\n{indent}    b->{field} = (uint8_t)value;\n{indent}}}"
        )
    }

    /// Calls that find the places of a move, and the step of each.
    fn searches(&self, number: usize) -> Vec<(String, String)> {
        match &self.rules.moves[number].along {
            Along::Nowhere => vec![(format!("match_move_{number}(b, 0, NULL)"), "0".into())],
            Along::Each(_) => vec![(format!("sites_{number}(b)"), "0".into())],
            Along::One(steps) => steps
                .iter()
                .map(|step| (format!("match_move_{number}(b, {step}, NULL)"), step.to_string()))
                .collect(),
        }
    }

    /// Functions for moves with numbers of their own.
    fn fixed(&mut self, bases: &[usize]) {
        line!(self, "static int list(const struct board *b, int last, uint8_t *moves)\n{{");
        line!(self, "    int count = 0, outcome;\n    (void)last;");
        line!(self, "    if (over(b, &outcome))\n        return 0;");
        self.each_way(bases, |tries, found, base, only_place| {
            let number = if only_place { base.to_string() } else { format!("{base} + lowest(s)") };
            let add = format!("moves[count++] = (uint8_t)({number});");
            let body =
                if tries.is_empty() { add } else { format!("{{\n{tries}        {add}\n    }}") };
            format!("    for (uint64_t s = {found}; s; s &= s - 1)\n        {body}")
        });
        line!(self, "    return count;\n}}\n");
        line!(
            self,
            "static int count_moves(const struct board *b)\n{{\n    int count = 0, outcome;"
        );
        line!(self, "    const int last = -1;\n    (void)last;");
        line!(self, "    if (over(b, &outcome))\n        return 0;");
        self.each_way(bases, |tries, found, _, _| match tries.is_empty() {
            true => format!("    count += many({found});"),
            false => format!(
                "    for (uint64_t s = {found}; s; s &= s - 1) {{\n{tries}        count++;\n    }}"
            ),
        });
        line!(self, "    return count;\n}}\n");
        self.player(bases);
    }

    /// Lines for each kind of moves and each direction, with the groups between them.
    fn each_way(&mut self, bases: &[usize], write: impl Fn(&str, &str, usize, bool) -> String) {
        let (rules, mut group) = (self.rules, 0);
        for (number, made) in rules.moves.iter().enumerate() {
            if made.group != group {
                group = made.group;
                line!(self, "    if (count > 0)\n        return count;");
            }
            let only_place = only_place(rules, made);
            let cells = if only_place { 1 } else { rules.board.cells() };
            let tries = made.condition.is_some() || !made.actions.is_empty();
            let all_steps = if let Along::One(steps) = &made.along { &steps[..] } else { &[] };
            for (way, (found, step)) in self.searches(number).into_iter().enumerate() {
                let tries = match tries {
                    true => format!(
                        "        struct board after = *b;\n        uint64_t arrived;\n        if \
                         (!make_{number}(&after, s & -s, {step}, &arrived))\n            continue;\n"
                    ),
                    false => String::new(),
                };
                let back = all_steps.get(way).and_then(|step| rules.board.opposite(*step));
                let back = back.and_then(|back| all_steps.iter().position(|step| *step == back));
                if let (true, Some(back)) = (made.no_return, back) {
                    line!(self, "    if (last != {})", bases[number] + back * cells);
                }
                line!(self, "{}", write(&tries, &found, bases[number] + way * cells, only_place));
            }
        }
    }

    /// A function that makes the move with a number.
    fn player(&mut self, bases: &[usize]) {
        let rules = self.rules;
        line!(self, "static void make(struct board *b, int number)\n{{\n    uint64_t arrived;");
        for (number, made) in rules.moves.iter().enumerate() {
            let only_place = only_place(rules, made);
            let cells = if only_place { 1 } else { rules.board.cells() };
            let (base, behind) = (bases[number], bases[number] + cells * ways(made));
            line!(self, "    if (number >= {base} && number < {behind}) {{");
            let first = made.before.0.first().map_or(String::new(), |(set, _)| self.set(set));
            match only_place {
                true => line!(self, "        uint64_t site = {first};"),
                false => line!(self, "        uint64_t site = only((number - {base}) % CELLS);"),
            }
            line!(self, "        switch ((number - {base}) / {cells}) {{");
            for (way, (_, step)) in self.searches(number).into_iter().enumerate() {
                line!(self, "        case {way}:");
                line!(self, "            make_{number}(b, site, {step}, &arrived);");
                line!(self, "            break;");
            }
            line!(self, "        }}\n        become(b, arrived);\n        return;\n    }}");
        }
        line!(self, "    (void)arrived;\n}}\n");
    }

    /// Functions for moves that are counted.
    fn counted(&mut self) {
        line!(self, "{}", include_str!("counted.h"));
        let groups = self.rules.moves.last().map_or(0, |last| last.group + 1);
        for group in 0..groups {
            if self.rules.moves.iter().any(|made| made.group == group && made.again) {
                self.going_on(group);
            }
        }
        line!(self, "static int walk(struct search *search, const struct board *b)\n{{");
        line!(self, "    int outcome;\n    if (over(b, &outcome))\n        return 0;");
        let (rules, mut group) = (self.rules, 0);
        for (number, made) in rules.moves.iter().enumerate() {
            if made.group != group {
                group = made.group;
                line!(self, "    if (search->found > 0)\n        return 0;");
            }
            for (found, step) in self.searches(number) {
                line!(self, "    for (uint64_t s = {found}; s; s &= s - 1) {{");
                line!(self, "        struct board after = *b;\n        uint64_t arrived;");
                line!(self, "        if (!make_{number}(&after, s & -s, {step}, &arrived))");
                line!(self, "            continue;");
                let end = "tell(search, &after)";
                let end = match made.again {
                    true => format!(
                        "(become(&after, arrived) ? {end} : go_on_{group}(search, &after, arrived))"
                    ),
                    false => format!("(become(&after, arrived), {end})"),
                };
                line!(self, "        if ({end})\n            return 1;\n    }}");
            }
        }
        line!(self, "    return 0;\n}}\n\n{}", include_str!("counted-end.h"));
    }

    /// A function that goes on with a move of a group.
    fn going_on(&mut self, group: usize) {
        let rules = self.rules;
        line!(
            self,
            "static int go_on_{group}(struct search *search, const struct board *b, uint64_t \
             site)\n{{\n    int more = 0;"
        );
        let again = rules.moves.iter().enumerate();
        for (number, _) in again.filter(|(_, made)| made.group == group && made.again) {
            for (found, step) in self.searches(number) {
                line!(self, "    if (site & {found}) {{");
                line!(self, "        struct board after = *b;\n        uint64_t arrived;");
                line!(self, "        if (make_{number}(&after, site, {step}, &arrived)) {{");
                line!(self, "            more = 1;");
                line!(self, "            if (become(&after, arrived) ? tell(search, &after)");
                line!(self, "                    : go_on_{group}(search, &after, arrived))");
                line!(self, "                return 1;\n        }}\n    }}");
            }
        }
        line!(self, "    return more ? 0 : tell(search, b);\n}}\n");
    }

    /// Functions that add the move of a player that has to pass.
    fn passing(&mut self) {
        let pass = match &self.numbering {
            Numbering::Fixed { bases } => bases.last().copied().unwrap_or_default(),
            Numbering::Counted => 0,
        };
        let passes = self.rules.passes;
        line!(self, "INLINE int must_pass(const struct board *b)\n{{");
        if passes {
            line!(self, "    struct board other = *b;\n    int outcome;");
            line!(self, "    turn(&other);");
            line!(self, "    return !over(b, &outcome) && count_moves(&other) > 0;");
        } else {
            line!(self, "    (void)b;\n    return 0;");
        }
        line!(self, "}}\n\nstatic int count_of(const struct board *b)\n{{");
        line!(self, "    int count = count_moves(b);");
        line!(self, "    return count > 0 ? count : must_pass(b);\n}}\n");
        line!(self, "static int list_of(const struct board *b, int last, uint8_t *moves)\n{{");
        line!(self, "    int count = list(b, last, moves);");
        line!(self, "    if (count == 0 && must_pass(b))\n        moves[count++] = {pass};");
        line!(self, "    return count;\n}}\n");
    }

    fn most(&self) -> u8 {
        match self.rules.contents {
            crate::model::Contents::Numbers { most, .. } => most,
            crate::model::Contents::Pieces(_) => 0,
        }
    }
}
