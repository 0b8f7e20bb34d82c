//! Operators.

use super::expressions::Expressions;
use super::types::{Type, TypeId, Types};
use crate::diagnostics::{Code, Diagnostic};
use crate::source::Span;
use crate::tree::{BinaryOperator, Expression, ExpressionKind, UnaryOperator};

impl<'t> Expressions<'_, 't> {
    pub fn unary(&mut self, operator: UnaryOperator, operand: &'t Expression) -> TypeId {
        match operator {
            UnaryOperator::Not => {
                self.expect(operand, Types::BOOLEAN);
                Types::BOOLEAN
            }
            UnaryOperator::Negate => {
                let of = self.infer(operand);
                if !matches!(of, Types::INTEGER | Types::REAL | Types::UNKNOWN) {
                    let message = format!("`-` has no meaning for {}", self.symbols.describe(of));
                    let diagnostic =
                        Diagnostic::new(Code::Operator, message, operand.span, "not a number")
                            .help("integers and reals have a negative");
                    self.symbols.report(diagnostic);
                    return Types::UNKNOWN;
                }
                of
            }
        }
    }

    pub fn binary(
        &mut self,
        span: Span,
        operator: BinaryOperator,
        (left, right): (&'t Expression, &'t Expression),
        expected: Option<TypeId>,
    ) -> TypeId {
        use BinaryOperator as Op;
        match operator {
            Op::And | Op::Or => {
                self.expect(left, Types::BOOLEAN);
                self.expect(right, Types::BOOLEAN);
                Types::BOOLEAN
            }
            Op::In => {
                self.membership(left, right);
                Types::BOOLEAN
            }
            Op::Equal | Op::NotEqual => {
                self.operands(span, operator, (left, right), None);
                Types::BOOLEAN
            }
            Op::Less | Op::LessEqual | Op::Greater | Op::GreaterEqual => {
                self.operands(span, operator, (left, right), None);
                Types::BOOLEAN
            }
            _ => {
                // Of sets, the type of the result is that of the operands.
                let collection = |of: &TypeId| {
                    matches!(self.symbols.types.get(*of), Type::Set(_) | Type::Bag(_))
                };
                let expected = expected.filter(collection);
                self.operands(span, operator, (left, right), expected)
            }
        }
    }

    /// The common type of two operands, for which the operator must be defined.
    fn operands(
        &mut self,
        span: Span,
        operator: BinaryOperator,
        (left, right): (&'t Expression, &'t Expression),
        expected: Option<TypeId>,
    ) -> TypeId {
        let tells = |side: &Expression| {
            !matches!(side.bare().kind, ExpressionKind::Aggregate { .. } | ExpressionKind::Nil)
        };
        let (first, second) = if tells(left) { (left, right) } else { (right, left) };
        let of = self.typed(first, expected);
        let other = self.typed(second, Some(of));
        if !self.symbols.types.agree(of, other) {
            let (left, right) = match std::ptr::eq(first, left) {
                true => (of, other),
                false => (other, of),
            };
            self.report_operands(span, operator, left, right);
            return Types::UNKNOWN;
        }
        if of == Types::UNKNOWN {
            return other;
        }
        if !self.symbols.types.is_defined(operator, of) {
            let sign = operator.sign();
            let message = format!("`{sign}` has no meaning for {}", self.symbols.describe(of));
            let help = meaningful(operator);
            let diagnostic =
                Diagnostic::new(Code::Operator, message, span, "has no meaning").help(help);
            self.symbols.report(diagnostic);
            return Types::UNKNOWN;
        }
        of
    }

    fn report_operands(
        &mut self,
        span: Span,
        operator: BinaryOperator,
        left: TypeId,
        right: TypeId,
    ) {
        let help = match (left, right) {
            (Types::REAL, Types::INTEGER) | (Types::INTEGER, Types::REAL) => {
                "convert the integer by `float(...)`, or write a literal with `.0`"
            }
            _ => "both sides must have the same type",
        };
        let (left, right) = (self.symbols.describe(left), self.symbols.describe(right));
        let message = format!("`{}` between {left} and {right}", operator.sign());
        let label = format!("left is {left}, right is {right}");
        self.symbols.report(Diagnostic::new(Code::Operator, message, span, label).help(help));
    }

    fn membership(&mut self, left: &'t Expression, right: &'t Expression) {
        let of = self.infer(right);
        match *self.symbols.types.get(of) {
            Type::Set(element) | Type::Bag(element) => {
                self.expect(left, element);
            }
            Type::Unknown => {
                self.infer(left);
            }
            _ => {
                self.infer(left);
                let message = format!("`in` has no meaning for {}", self.symbols.describe(of));
                let diagnostic =
                    Diagnostic::new(Code::Operator, message, right.span, "no set and no bag")
                        .help("`x in s` asks whether the set or bag s has the element x");
                self.symbols.report(diagnostic);
            }
        }
    }
}

/// The types for which an operator is defined.
fn meaningful(operator: BinaryOperator) -> &'static str {
    use BinaryOperator as Op;
    match operator {
        Op::Equal | Op::NotEqual => "objects and graphs are not compared; compare what is in them",
        Op::Less | Op::LessEqual | Op::Greater | Op::GreaterEqual => {
            "numbers, characters, strings and enumerations have an order"
        }
        Op::Add => "numbers are added, strings joined, sets and bags united",
        Op::Subtract | Op::Multiply => "it is defined for numbers, sets and bags",
        Op::Divide => "it is defined for numbers",
        _ => "it is defined for integers; of reals take `/`",
    }
}
