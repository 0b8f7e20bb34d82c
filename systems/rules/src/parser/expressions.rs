//! Expressions: values and conditions.

use super::names::Names;
use super::patterns;
use crate::diagnostics::{Diagnostic, Parse, Span};
use crate::lexer::Token;
use crate::model::{Along, Contents, Expression, Operator, Pattern};

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

/// An expression that is being read.
struct Expressions<'n, 's> {
    names: &'n mut Names<'s>,
    /// True where it is about a cell.
    in_cell: bool,
    depth: usize,
}

/// A condition.
pub fn condition(names: &mut Names<'_>) -> Parse<Expression> {
    Expressions { names, in_cell: false, depth: 0 }.condition()
}

/// A condition about a cell.
pub fn cell_condition(names: &mut Names<'_>) -> Parse<Expression> {
    Expressions { names, in_cell: true, depth: 0 }.condition()
}

/// A number.
pub fn number(names: &mut Names<'_>) -> Parse<Expression> {
    Expressions { names, in_cell: false, depth: 0 }.number()
}

impl Expressions<'_, '_> {
    fn condition(&mut self) -> Parse<Expression> {
        self.either()?.condition()
    }

    fn number(&mut self) -> Parse<Expression> {
        self.either()?.number()
    }

    fn either(&mut self) -> Parse<Typed> {
        self.deeper(|this| this.joined("or", Operator::Or, Self::all))
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
        while self.names.tokens.takes(word) {
            let right = part(self)?;
            let span = left.span.to(right.span);
            let of = two(operator, left.condition()?, right.condition()?);
            left = Typed { of, is_condition: true, span };
        }
        Ok(left)
    }

    fn negated(&mut self) -> Parse<Typed> {
        let begin = self.names.tokens.span();
        if !self.names.tokens.takes("not") {
            return self.comparison();
        }
        let of = self.deeper(Self::negated)?.condition()?;
        let span = begin.to(self.names.tokens.before());
        Ok(Typed { of: Expression::Not(Box::new(of)), is_condition: true, span })
    }

    fn comparison(&mut self) -> Parse<Typed> {
        let left = self.total()?;
        let begin = left.span;
        let of = if self.names.tokens.takes("in") {
            let left = Box::new(left.number()?);
            if matches!(self.names.tokens.peek(), Some(Token::Number(_))) {
                let first = self.names.tokens.literal(0, LARGEST)?;
                self.names.tokens.word("to")?;
                Expression::InRange(left, first, self.names.tokens.literal(first, LARGEST)?)
            } else {
                Expression::InZone(left, self.names.known_zone()?)
            }
        } else {
            let next = COMPARISONS.iter().find(|(sign, _)| self.names.tokens.takes_sign(sign));
            let Some((_, operator)) = next else { return Ok(left) };
            two(*operator, left.number()?, self.total()?.number()?)
        };
        Ok(Typed { of, is_condition: true, span: begin.to(self.names.tokens.before()) })
    }

    fn total(&mut self) -> Parse<Typed> {
        let mut left = self.product()?;
        loop {
            let operator = match self.names.tokens.peek() {
                Some(Token::Sign("+")) => Operator::Add,
                Some(Token::Sign("-")) => Operator::Subtract,
                _ => return Ok(left),
            };
            self.names.tokens.skip();
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
            let of = if self.names.tokens.takes_sign("*") {
                two(Operator::Multiply, left.number()?, self.primary()?.number()?)
            } else if self.names.tokens.takes_sign("/") {
                let by = Expression::Number(self.names.tokens.literal(1, LARGEST)?);
                two(Operator::Divide, left.number()?, by)
            } else {
                return Ok(left);
            };
            left = Typed { of, is_condition: false, span: begin.to(self.names.tokens.before()) };
        }
    }

    fn primary(&mut self) -> Parse<Typed> {
        let begin = self.names.tokens.span();
        let (of, is_condition) = self.deeper(Self::primary_of)?;
        Ok(Typed { of, is_condition, span: begin.to(self.names.tokens.before()) })
    }

    fn primary_of(&mut self) -> Parse<(Expression, bool)> {
        if self.names.tokens.takes_sign("(") {
            let inner = self.either()?;
            self.names.tokens.sign(")")?;
            return Ok((inner.of, inner.is_condition));
        }
        if self.names.tokens.takes_sign("-") {
            return Ok((Expression::Negative(Box::new(self.primary()?.number()?)), false));
        }
        if let Some(Token::Number(_)) = self.names.tokens.peek() {
            return Ok((Expression::Number(self.names.tokens.literal(0, LARGEST)?), false));
        }
        let Some(word) = self.names.tokens.peek_word() else {
            let help = "a value is a number, a counter, or one of `count`, `sum`, `min`, `max`, \
                        `abs`, `row`, `column`";
            return Err(self.names.tokens.expected("a value", help));
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
                .names
                .counter_value()
                .map(|(counter, whose)| (Expression::Counter(counter, whose), false)),
        }
    }

    fn cell(&mut self, word: &str) -> Parse<Expression> {
        let numbers = matches!(self.names.rules.contents, Contents::Numbers { .. });
        if !self.in_cell {
            let help = "it means the cell that `sum`, `during` or the `where` of a move is about";
            return Err(Diagnostic::new(
                format!("`{word}` means no cell here"),
                self.names.tokens.span(),
                help,
            ));
        }
        if word == "here" && !numbers {
            let help = "`here` is the number in a cell; ask for pieces with `count` or a pattern";
            return Err(Diagnostic::new("cells hold no numbers", self.names.tokens.span(), help));
        }
        self.names.tokens.skip();
        Ok(if word == "cell" { Expression::Cell } else { Expression::Here })
    }

    fn function(&mut self, of: fn(Box<Expression>) -> Expression) -> Parse<(Expression, bool)> {
        self.names.tokens.skip();
        self.names.tokens.sign("(")?;
        let inner = self.number()?;
        self.names.tokens.sign(")")?;
        Ok((of(Box::new(inner)), false))
    }

    fn smaller(&mut self, operator: Operator) -> Parse<(Expression, bool)> {
        self.names.tokens.skip();
        self.names.tokens.sign("(")?;
        let left = self.number()?;
        self.names.tokens.sign(",")?;
        let right = self.number()?;
        self.names.tokens.sign(")")?;
        Ok((two(operator, left, right), false))
    }

    fn sum(&mut self) -> Parse<(Expression, bool)> {
        self.names.tokens.skip();
        self.names.tokens.sign("(")?;
        let of = Box::new(self.about_cell(Self::number)?);
        let zone = if self.names.tokens.takes("over") {
            self.names.known_zone()?
        } else {
            self.names.rules.board.places
        };
        let condition = match self.names.tokens.takes("where") {
            true => Some(Box::new(self.about_cell(Self::condition)?)),
            false => None,
        };
        self.names.tokens.sign(")")?;
        Ok((Expression::Sum { of, zone, condition }, false))
    }

    fn places(&mut self, any: bool) -> Parse<(Expression, bool)> {
        self.names.tokens.skip();
        self.names.tokens.sign("(")?;
        let begin = self.names.tokens.span();
        let pattern = match self.names.tokens.peek() {
            Some(Token::Sign("[")) => patterns::pattern(self.names)?,
            _ => Pattern(vec![patterns::test(self.names)?]),
        };
        let along = self.names.along()?;
        patterns::check_along(self.names, &pattern, &along, begin)?;
        self.names.tokens.sign(")")?;
        let along = match along {
            Along::Nowhere => Vec::new(),
            Along::One(steps) | Along::Each(steps) => steps,
        };
        Ok((Expression::Places { pattern, along, any }, any))
    }

    /// Runs a part of an expression that is about a cell.
    fn about_cell<T>(&mut self, run: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        let before = std::mem::replace(&mut self.in_cell, true);
        let result = run(self);
        self.in_cell = before;
        result
    }

    fn deeper<T>(&mut self, run: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.depth >= DEEPEST {
            let help = "write it with fewer parentheses";
            return Err(Diagnostic::new(
                "this is nested too deeply",
                self.names.tokens.span(),
                help,
            ));
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
