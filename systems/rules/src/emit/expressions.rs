//! Expressions in C.

use super::{Emitter, field, line, word};
use crate::model::{Expression, Operator, Whose};

impl Emitter<'_> {
    /// An expression about `struct board *b` and, where it is about a cell, `int cell`. Functions
    /// that it needs are written first.
    pub(super) fn expression(&mut self, expression: &Expression) -> String {
        match expression {
            Expression::Number(number) => number.to_string(),
            Expression::Counter(counter, whose) => format!("b->{}", self.counter(*counter, *whose)),
            Expression::Cell => "cell".into(),
            Expression::Here => "b->at[cell]".into(),
            Expression::Row(of) => format!("ROW[({}) & 63]", self.expression(of)),
            Expression::Column(of) => format!("COLUMN[({}) & 63]", self.expression(of)),
            Expression::Absolute(of) => format!("abs({})", self.expression(of)),
            Expression::Negative(of) => format!("(-{})", self.expression(of)),
            Expression::Not(of) => format!("(!{})", self.expression(of)),
            Expression::Two(operator, left, right) => {
                let (left, right) = (self.expression(left), self.expression(right));
                match sign(*operator) {
                    Some(sign) => format!("({left} {sign} {right})"),
                    None if *operator == Operator::Minimum => format!("min({left}, {right})"),
                    None => format!("max({left}, {right})"),
                }
            }
            Expression::InZone(of, zone) => {
                format!("(int)({} >> ({} & 63) & 1)", word(*zone), self.expression(of))
            }
            Expression::InRange(of, first, last) => {
                let of = self.expression(of);
                format!("({of} >= {first} && {of} <= {last})")
            }
            Expression::Sum { of, zone, condition } => self.sum(of, *zone, condition.as_deref()),
            Expression::Places { pattern, along, any } => {
                if along.is_empty() {
                    let set = self.set(&pattern.0[0].0);
                    return if *any { format!("({set} != 0)") } else { format!("many({set})") };
                }
                let helper = self.helper();
                self.matcher(&format!("match_{helper}"), pattern, along);
                let calls = along.iter().map(|step| format!("match_{helper}(b, {step}, NULL)"));
                match any {
                    true => format!("(({}) != 0)", calls.collect::<Vec<_>>().join(" | ")),
                    false => {
                        let calls: Vec<_> = calls.map(|call| format!("many({call})")).collect();
                        format!("({})", calls.join(" + "))
                    }
                }
            }
        }
    }

    fn sum(&mut self, of: &Expression, zone: u64, condition: Option<&Expression>) -> String {
        let of = self.expression(of);
        let condition = condition.map(|condition| self.expression(condition));
        let helper = self.helper();
        line!(self, "static inline int sum_{helper}(const struct board *b)\n{{");
        line!(self, "    int sum = 0;\n    (void)b;");
        if zone == self.rules.board.places && zone == u64::MAX >> (64 - self.rules.board.cells()) {
            line!(self, "    for (int cell = 0; cell < CELLS; cell++) {{");
        } else {
            line!(self, "    for (uint64_t s = {}; s; s &= s - 1) {{", word(zone));
            line!(self, "        int cell = lowest(s);\n        (void)cell;");
        }
        match condition {
            Some(condition) => line!(self, "        sum += ({condition}) ? ({of}) : 0;"),
            None => line!(self, "        sum += {of};"),
        }
        line!(self, "    }}\n    return sum;\n}}\n");
        format!("sum_{helper}(b)")
    }

    /// Field of a counter.
    pub(super) fn counter(&self, counter: usize, whose: Whose) -> String {
        let counter = &self.rules.counters[counter];
        let owner = match (counter.each, whose) {
            (false, _) => "both",
            (true, Whose::Own) => "own",
            (true, Whose::Other) => "other",
        };
        field(owner, &counter.name)
    }

    /// Number of a new function.
    fn helper(&mut self) -> usize {
        self.helpers += 1;
        self.helpers
    }
}

fn sign(operator: Operator) -> Option<&'static str> {
    Some(match operator {
        Operator::Add => "+",
        Operator::Subtract => "-",
        Operator::Multiply => "*",
        Operator::Divide => "/",
        Operator::Less => "<",
        Operator::LessEqual => "<=",
        Operator::Greater => ">",
        Operator::GreaterEqual => ">=",
        Operator::Equal => "==",
        Operator::NotEqual => "!=",
        Operator::And => "&&",
        Operator::Or => "||",
        Operator::Minimum | Operator::Maximum => return None,
    })
}
