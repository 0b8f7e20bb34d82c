//! Expressions: values and conditions.

use super::Parser;
use crate::diagnostics::{Diagnostic, Parse, Span};
use crate::lexer::Token;
use crate::model::{Along, Contents, Expression, Operator, Pattern, Whose};

/// Deepest nesting.
const DEEPEST: usize = 40;

/// Largest number that is written.
const LARGEST: i32 = 9999;

const COMPARISONS: [(&str, Operator); 6] = [
    ("=", Operator::Equal),
    ("/=", Operator::NotEqual),
    ("<", Operator::Less),
    ("<=", Operator::LessEqual),
    (">", Operator::Greater),
    (">=", Operator::GreaterEqual),
];

/// An expression, whether it is a condition, and its place.
struct Typed {
    of: Expression,
    is_condition: bool,
    span: Span,
}

impl Typed {
    fn condition(self) -> Parse<Expression> {
        if self.is_condition {
            return Ok(self.of);
        }
        let help = "compare it with something, such as `> 0`";
        Err(Diagnostic::new("this is a number, and a condition is wanted", self.span, help))
    }

    fn number(self) -> Parse<Expression> {
        if !self.is_condition {
            return Ok(self.of);
        }
        let help = "`count` and `sum` make numbers of what holds for cells";
        Err(Diagnostic::new("this is a condition, and a number is wanted", self.span, help))
    }
}

impl Parser<'_> {
    pub(super) fn condition(&mut self) -> Parse<Expression> {
        self.either()?.condition()
    }

    pub(super) fn number(&mut self) -> Parse<Expression> {
        self.either()?.number()
    }

    fn either(&mut self) -> Parse<Typed> {
        self.deeper(|parser| parser.joined("or", Operator::Or, Self::all))
    }

    fn all(&mut self) -> Parse<Typed> {
        self.joined("and", Operator::And, Self::negated)
    }

    /// Conditions with a word between them.
    fn joined(
        &mut self,
        word: &str,
        operator: Operator,
        part: fn(&mut Self) -> Parse<Typed>,
    ) -> Parse<Typed> {
        let mut left = part(self)?;
        while self.takes(word) {
            let right = part(self)?;
            let span = left.span.to(right.span);
            let of = two(operator, left.condition()?, right.condition()?);
            left = Typed { of, is_condition: true, span };
        }
        Ok(left)
    }

    fn negated(&mut self) -> Parse<Typed> {
        let begin = self.span();
        if !self.takes("not") {
            return self.comparison();
        }
        let of = self.deeper(Self::negated)?.condition()?;
        let span = begin.to(self.before());
        Ok(Typed { of: Expression::Not(Box::new(of)), is_condition: true, span })
    }

    fn comparison(&mut self) -> Parse<Typed> {
        let left = self.total()?;
        let begin = left.span;
        let of = if self.takes("in") {
            let left = Box::new(left.number()?);
            if matches!(self.peek(), Some(Token::Number(_))) {
                let first = self.literal(0, LARGEST)?;
                self.word("to")?;
                Expression::InRange(left, first, self.literal(first, LARGEST)?)
            } else {
                Expression::InZone(left, self.known_zone()?)
            }
        } else {
            let next = COMPARISONS.iter().find(|(sign, _)| self.takes_sign(sign));
            let Some((_, operator)) = next else { return Ok(left) };
            two(*operator, left.number()?, self.total()?.number()?)
        };
        Ok(Typed { of, is_condition: true, span: begin.to(self.before()) })
    }

    fn total(&mut self) -> Parse<Typed> {
        let mut left = self.product()?;
        loop {
            let operator = match self.peek() {
                Some(Token::Sign("+")) => Operator::Add,
                Some(Token::Sign("-")) => Operator::Subtract,
                _ => return Ok(left),
            };
            self.at += 1;
            let right = self.product()?;
            let span = left.span.to(right.span);
            let of = two(operator, left.number()?, right.number()?);
            left = Typed { of, is_condition: false, span };
        }
    }

    fn product(&mut self) -> Parse<Typed> {
        let mut left = self.primary()?;
        loop {
            let begin = left.span;
            let of = if self.takes_sign("*") {
                two(Operator::Multiply, left.number()?, self.primary()?.number()?)
            } else if self.takes_sign("/") {
                let by = Expression::Number(self.literal(1, LARGEST)?);
                two(Operator::Divide, left.number()?, by)
            } else {
                return Ok(left);
            };
            left = Typed { of, is_condition: false, span: begin.to(self.before()) };
        }
    }

    fn primary(&mut self) -> Parse<Typed> {
        let begin = self.span();
        let (of, is_condition) = self.deeper(Self::primary_of)?;
        Ok(Typed { of, is_condition, span: begin.to(self.before()) })
    }

    fn primary_of(&mut self) -> Parse<(Expression, bool)> {
        if self.takes_sign("(") {
            let inner = self.either()?;
            self.sign(")")?;
            return Ok((inner.of, inner.is_condition));
        }
        if self.takes_sign("-") {
            return Ok((Expression::Negative(Box::new(self.primary()?.number()?)), false));
        }
        if let Some(Token::Number(_)) = self.peek() {
            return Ok((Expression::Number(self.literal(0, LARGEST)?), false));
        }
        let Some(word) = self.peek_word() else {
            let help = "a value is a number, a counter, or one of `count`, `sum`, `min`, `max`, \
                        `abs`, `row`, `column`";
            return Err(self.expected("a value", help));
        };
        match word {
            "cell" | "here" => self.cell(word).map(|of| (of, false)),
            "row" => self.function(Expression::Row),
            "column" => self.function(Expression::Column),
            "abs" => self.function(Expression::Absolute),
            "min" => self.smaller(Operator::Minimum),
            "max" => self.smaller(Operator::Maximum),
            "sum" => self.sum(),
            "count" | "exists" => self.places(word == "exists"),
            _ => self
                .counter_value()
                .map(|(counter, whose)| (Expression::Counter(counter, whose), false)),
        }
    }

    fn cell(&mut self, word: &str) -> Parse<Expression> {
        let numbers = matches!(self.rules.contents, Contents::Numbers { .. });
        if !self.in_cell {
            let help = "it means the cell that `sum`, `during` or the `where` of a move is about";
            return Err(Diagnostic::new(format!("`{word}` means no cell here"), self.span(), help));
        }
        if word == "here" && !numbers {
            let help = "`here` is the number in a cell; ask for pieces with `count` or a pattern";
            return Err(Diagnostic::new("cells hold no numbers", self.span(), help));
        }
        self.at += 1;
        Ok(if word == "cell" { Expression::Cell } else { Expression::Here })
    }

    fn function(&mut self, of: fn(Box<Expression>) -> Expression) -> Parse<(Expression, bool)> {
        self.at += 1;
        self.sign("(")?;
        let inner = self.number()?;
        self.sign(")")?;
        Ok((of(Box::new(inner)), false))
    }

    fn smaller(&mut self, operator: Operator) -> Parse<(Expression, bool)> {
        self.at += 1;
        self.sign("(")?;
        let left = self.number()?;
        self.sign(",")?;
        let right = self.number()?;
        self.sign(")")?;
        Ok((two(operator, left, right), false))
    }

    fn sum(&mut self) -> Parse<(Expression, bool)> {
        self.at += 1;
        self.sign("(")?;
        let of = Box::new(self.about_cell(Self::number)?);
        let zone = if self.takes("over") { self.known_zone()? } else { self.rules.board.places };
        let condition = match self.takes("where") {
            true => Some(Box::new(self.cell_condition()?)),
            false => None,
        };
        self.sign(")")?;
        Ok((Expression::Sum { of, zone, condition }, false))
    }

    fn places(&mut self, any: bool) -> Parse<(Expression, bool)> {
        self.at += 1;
        self.sign("(")?;
        let begin = self.span();
        let pattern = match self.peek() {
            Some(Token::Sign("[")) => self.pattern()?,
            _ => Pattern(vec![self.test()?]),
        };
        let along = self.along()?;
        self.check_along(&pattern, &along, begin)?;
        self.sign(")")?;
        let along = match along {
            Along::Nowhere => Vec::new(),
            Along::One(steps) | Along::Each(steps) => steps,
        };
        Ok((Expression::Places { pattern, along, any }, any))
    }

    /// A counter, perhaps that of the other player.
    pub(super) fn counter_value(&mut self) -> Parse<(usize, Whose)> {
        let (begin, other) = (self.span(), self.takes("other"));
        let _ = other || self.takes("own");
        let counters = &self.rules.counters;
        let word = self.peek_word();
        let at = counters.iter().position(|counter| Some(counter.name.as_str()) == word);
        let Some(at) = at else {
            let names = counters.iter().map(|counter| counter.name.as_str());
            return Err(self.unknown("counter", names));
        };
        self.at += 1;
        if other && !counters[at].each {
            let span = begin.to(self.before());
            let help = "`counter` declares one for each player, `shared` one for both";
            return Err(Diagnostic::new("this counter is of both players", span, help));
        }
        Ok((at, if other { Whose::Other } else { Whose::Own }))
    }

    fn deeper<T>(&mut self, run: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.depth >= DEEPEST {
            let help = "write it with fewer parentheses";
            return Err(Diagnostic::new("this is nested too deeply", self.span(), help));
        }
        self.depth += 1;
        let result = run(self);
        self.depth -= 1;
        result
    }
}

fn two(operator: Operator, left: Expression, right: Expression) -> Expression {
    Expression::Two(operator, Box::new(left), Box::new(right))
}
