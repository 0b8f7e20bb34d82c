//! Constants, and their values.

use super::expressions::Expressions;
use super::facts::{ConstantId, Entity, Value};
use super::resolve::Resolver;
use super::scopes::ScopeId;
use super::types::{TypeId, Types};
use crate::diagnostics::{Code, Diagnostic};
use crate::tree::{BinaryOperator, Expression, ExpressionKind, UnaryOperator, unquoted};

impl<'t> Resolver<'_, 't> {
    /// Type and value of a constant.
    pub fn constant(&mut self, id: ConstantId) -> (TypeId, Option<Value>) {
        let state = &mut self.symbols.constants[id.index()];
        if let Some(resolved) = &state.resolved {
            return resolved.clone();
        }
        let (name, syntax, scope) = (state.name, state.syntax, state.scope);
        if std::mem::replace(&mut state.resolving, true) {
            let message = "this constant is defined by itself";
            let diagnostic = Diagnostic::new(Code::Endless, message, name.span, "has no end")
                .help("use literals and constants that are defined otherwise");
            self.symbols.report(diagnostic);
            let unknown = (Types::UNKNOWN, None);
            self.symbols.constants[id.index()].resolved = Some(unknown.clone());
            return unknown;
        }
        if !self.symbols.enter_definition(name) {
            return (Types::UNKNOWN, None);
        }
        let of = self.infer_in(scope, syntax);
        self.symbols.resolving -= 1;
        if let Some(resolved) = &self.symbols.constants[id.index()].resolved {
            return resolved.clone(); // It was met on the way to itself.
        }
        let value = self.constant_value(syntax, of);
        let resolved = self.symbols.constants[id.index()].resolved.get_or_insert((of, value));
        resolved.clone()
    }

    /// The value of an expression of constants, whose type is known; anything else is reported.
    fn constant_value(&mut self, expression: &Expression, of: TypeId) -> Option<Value> {
        let value = self.evaluate(expression);
        if value.is_none() && of != Types::UNKNOWN {
            let message = "this is no constant";
            let diagnostic =
                Diagnostic::new(Code::Constant, message, expression.span, "has no fixed value")
                    .help("use literals and other constants; numbers must stay within 64 bits");
            self.symbols.report(diagnostic);
        }
        value
    }

    /// A choice of a `case` or union: a constant of the type of what is looked at, as a number.
    pub fn choice(
        &mut self,
        scope: ScopeId,
        expression: &'t Expression,
        of: TypeId,
    ) -> Option<i64> {
        if !self.expect_in(scope, expression, of) {
            return None;
        }
        match self.constant_value(expression, of)? {
            Value::Integer(number) => Some(number),
            Value::Boolean(value) => Some(i64::from(value)),
            Value::Char(letter) => Some(i64::from(u32::from(letter))),
            Value::Enumeration(_, number) => Some(i64::from(number)),
            Value::Real(_) | Value::Text(_) => None,
        }
    }

    /// The value of an expression, if it is made of constants alone.
    pub fn evaluate(&mut self, expression: &Expression) -> Option<Value> {
        match &expression.kind {
            ExpressionKind::Integer(text) => text.parse().ok().map(Value::Integer),
            ExpressionKind::Real(text) => text.parse().ok().map(Value::Real),
            ExpressionKind::Boolean(value) => Some(Value::Boolean(*value)),
            ExpressionKind::Char(text) => unquoted(text)?.chars().next().map(Value::Char),
            ExpressionKind::Text(text) => unquoted(text).map(Value::Text),
            ExpressionKind::Parenthesised(inner) => self.evaluate(inner),
            ExpressionKind::Name(_) | ExpressionKind::Field { .. } => {
                match self.symbols.meanings.get(&expression.id)? {
                    Entity::Constant(id) => self.constant(*id).1,
                    Entity::Value { of, number } => Some(Value::Enumeration(*of, *number)),
                    _ => None,
                }
            }
            ExpressionKind::Unary { operator, operand } => {
                match (operator, self.evaluate(operand)?) {
                    (UnaryOperator::Negate, Value::Integer(x)) => {
                        x.checked_neg().map(Value::Integer)
                    }
                    (UnaryOperator::Negate, Value::Real(x)) => Some(Value::Real(-x)),
                    (UnaryOperator::Not, Value::Boolean(x)) => Some(Value::Boolean(!x)),
                    _ => None,
                }
            }
            ExpressionKind::Binary { operator, left, right } => {
                let (left, right) = (self.evaluate(left)?, self.evaluate(right)?);
                computed(*operator, left, right)
            }
            _ => None,
        }
    }

    /// Checks an expression outside of statements: in a bound, or a constant.
    pub fn expect_in(&mut self, scope: ScopeId, expression: &'t Expression, of: TypeId) -> bool {
        let mut outside = Expressions::outside(self.symbols, scope);
        let agrees = outside.expect(expression, of);
        let writes = outside.effect.writes;
        self.refuse_writes(writes, expression);
        agrees
    }

    /// The type of an expression outside of statements.
    pub fn infer_in(&mut self, scope: ScopeId, expression: &'t Expression) -> TypeId {
        let mut outside = Expressions::outside(self.symbols, scope);
        let of = outside.infer(expression);
        let writes = outside.effect.writes;
        self.refuse_writes(writes, expression);
        of
    }

    fn refuse_writes(&mut self, writes: bool, expression: &Expression) {
        if writes {
            let message = "a declaration changes the object";
            let diagnostic =
                Diagnostic::new(Code::GuardEffect, message, expression.span, "changes the object")
                    .help("compute this in a statement");
            self.symbols.report(diagnostic);
        }
    }
}

/// The result of an operator on two values; `None` beyond 64 bits, and for a division by zero.
fn computed(operator: BinaryOperator, left: Value, right: Value) -> Option<Value> {
    use BinaryOperator as Op;
    Some(match (left, right) {
        (Value::Integer(x), Value::Integer(y)) => Value::Integer(match operator {
            Op::Add => x.checked_add(y)?,
            Op::Subtract => x.checked_sub(y)?,
            Op::Multiply => x.checked_mul(y)?,
            Op::Divide | Op::Quotient => x.checked_div(y)?,
            Op::Remainder => x.checked_rem(y)?,
            _ => return None,
        }),
        (Value::Real(x), Value::Real(y)) => Value::Real(match operator {
            Op::Add => x + y,
            Op::Subtract => x - y,
            Op::Multiply => x * y,
            Op::Divide => x / y,
            _ => return None,
        }),
        (Value::Boolean(x), Value::Boolean(y)) => Value::Boolean(match operator {
            Op::And => x && y,
            Op::Or => x || y,
            _ => return None,
        }),
        (Value::Text(x), Value::Text(y)) if operator == Op::Add => Value::Text(x + &y),
        _ => return None,
    })
}
