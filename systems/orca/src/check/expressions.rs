//! The types of expressions.

use super::Checker;
use super::effects::{EffectState, times};
use super::facts::RoutineId;
use super::scopes::ScopeId;
use super::types::{FieldType, Type, TypeId, Types};
use crate::diagnostics::{Code, Diagnostic};
use crate::source::Span;
use crate::suggestion::did_you_mean;
use crate::tree::{Expression, ExpressionKind, Name, unquoted};

/// Surroundings of an expression or statement.
#[derive(Clone, Debug)]
pub struct Context {
    /// The innermost scope.
    pub scope: ScopeId,
    /// The routine; none for what stands outside, and in an object's initialisation.
    pub routine: Option<RoutineId>,
    /// Number of loops around it.
    pub loops: u32,
    /// Number of alternatives of `if` and `case` around it.
    pub conditions: u32,
    /// Effects on the object so far.
    pub effect: EffectState,
}

impl Context {
    /// Outside of statements.
    pub fn outside(scope: ScopeId) -> Self {
        let effect = EffectState::default();
        Context { scope, routine: None, loops: 0, conditions: 0, effect }
    }

    /// Expected frequency with which this place is reached.
    pub fn times(&self) -> u64 {
        times(self.loops, self.conditions)
    }
}

impl<'t> Checker<'t> {
    /// The type of an expression of which nothing is known.
    pub fn infer(&mut self, context: &mut Context, expression: &'t Expression) -> TypeId {
        self.typed(context, expression, None)
    }

    /// Checks that an expression has a type. `false` if that was reported.
    pub fn expect(
        &mut self,
        context: &mut Context,
        expression: &'t Expression,
        expected: TypeId,
    ) -> bool {
        let found = self.typed(context, expression, Some(expected));
        if self.agree(expected, found) {
            return true;
        }
        self.report_mismatch(expression.span, expected, found);
        false
    }

    /// True if a value of one type may stand where another is expected.
    pub fn agree(&self, expected: TypeId, found: TypeId) -> bool {
        let unknown = |id| *self.types.get(id) == Type::Unknown;
        let nil =
            |id, other| id == Types::NIL && matches!(self.types.get(other), Type::NodeName(_));
        expected == found
            || unknown(expected)
            || unknown(found)
            || nil(expected, found)
            || nil(found, expected)
            || self.has_unknown(expected)
            || self.has_unknown(found)
    }

    /// True for types with a part that was reported.
    fn has_unknown(&self, id: TypeId) -> bool {
        match self.types.get(id) {
            Type::Array { of, indices } => {
                self.has_unknown(*of) || indices.iter().any(|index| self.has_unknown(*index))
            }
            Type::Set(of) | Type::Bag(of) => self.has_unknown(*of),
            of => *of == Type::Unknown,
        }
    }

    pub fn report_mismatch(&mut self, span: Span, expected: TypeId, found: TypeId) {
        let help = match (expected, found) {
            (Types::REAL, Types::INTEGER) => {
                Some("convert it by `float(...)`, or write a literal with `.0`")
            }
            (Types::INTEGER, Types::REAL) => Some("convert it by `trunc(...)` or `round(...)`"),
            (Types::INTEGER, Types::CHAR) => Some("convert it by `ord(...)`"),
            (Types::CHAR, Types::INTEGER) => Some("convert it by `chr(...)`"),
            (Types::CHAR, Types::TEXT) => Some("write one character between single quotes"),
            (Types::TEXT, Types::CHAR) => Some("write a string between double quotes"),
            (Types::BOOLEAN, _) => Some("a condition compares something: `x /= 0`"),
            (_, Types::NOTHING) => Some("what is called here returns nothing"),
            _ => None,
        };
        let expected = self.describe(expected);
        let found = self.describe(found);
        let help = help.map_or_else(|| format!("write a value of type {expected}"), str::to_owned);
        let message = format!("expected {expected}, found {found}");
        let label = format!("this is {found}");
        self.report(Diagnostic::new(Code::Mismatch, message, span, label).help(help));
    }

    /// The type of an expression, which is kept. `expected` helps where an expression alone does
    /// not tell its type.
    pub fn typed(
        &mut self,
        context: &mut Context,
        expression: &'t Expression,
        expected: Option<TypeId>,
    ) -> TypeId {
        let of = self.untyped(context, expression, expected);
        self.expressions[expression.id.0 as usize] = of;
        of
    }

    fn untyped(
        &mut self,
        context: &mut Context,
        expression: &'t Expression,
        expected: Option<TypeId>,
    ) -> TypeId {
        match &expression.kind {
            ExpressionKind::Integer(text) => {
                let fits = text.parse::<i64>().is_ok();
                self.check_literal(fits, expression.span, "an integer has at most 63 bits");
                Types::INTEGER
            }
            ExpressionKind::Real(text) => {
                let fits = text.parse::<f64>().is_ok_and(f64::is_finite);
                self.check_literal(fits, expression.span, "a real is at most 1.797e308");
                Types::REAL
            }
            ExpressionKind::Boolean(_) => Types::BOOLEAN,
            ExpressionKind::Char(text) => {
                self.check_escapes(text, expression.span);
                Types::CHAR
            }
            ExpressionKind::Text(text) => {
                self.check_escapes(text, expression.span);
                Types::TEXT
            }
            ExpressionKind::Nil => Types::NIL,
            ExpressionKind::Name(name) => self.name(context, expression, name),
            ExpressionKind::Field { of, field } => self.field(context, expression, of, field),
            ExpressionKind::Index { of, indices } => self.index(context, of, indices),
            ExpressionKind::Call { callee, arguments } => {
                self.call(context, expression, callee, arguments)
            }
            ExpressionKind::Operation { object, operation, arguments } => {
                self.operation_call(context, expression, object, operation, arguments)
            }
            ExpressionKind::Unary { operator, operand } => self.unary(context, *operator, operand),
            ExpressionKind::Binary { operator, left, right } => {
                self.binary(context, expression.span, *operator, (left, right), expected)
            }
            ExpressionKind::Aggregate { form, of, elements } => {
                self.aggregate(context, expression.span, (*form, of.as_deref()), elements, expected)
            }
            ExpressionKind::Parenthesised(inner) => self.typed(context, inner, expected),
            ExpressionKind::Malformed => Types::UNKNOWN,
        }
    }

    fn check_literal(&mut self, fits: bool, span: Span, help: &str) {
        if !fits {
            let message = "this number is too large";
            let diagnostic = Diagnostic::new(Code::Literal, message, span, "does not fit");
            self.report(diagnostic.help(help));
        }
    }

    fn check_escapes(&mut self, text: &str, span: Span) {
        if unquoted(text).is_none() {
            let message = "unknown escape in a text";
            let help = "these exist: \\n \\t \\0 \\\\ \\' \\\"";
            let diagnostic = Diagnostic::new(Code::Literal, message, span, "has an unknown escape");
            self.report(diagnostic.help(help));
        }
    }

    fn field(
        &mut self,
        context: &mut Context,
        expression: &'t Expression,
        of: &'t Expression,
        field: &'t Name,
    ) -> TypeId {
        if let Some(meaning) = self.exported(context, of, field) {
            return match meaning {
                Some(meaning) => self.value(context, expression, meaning, &field.text),
                None => Types::UNKNOWN,
            };
        }
        let of = self.infer(context, of);
        let fields: Vec<(String, TypeId)> = match self.types.get(of) {
            Type::Unknown => return Types::UNKNOWN,
            Type::Record { fields, .. } | Type::Graph { fields, .. } => pairs(fields),
            Type::Node(graph) => match self.types.get(*graph) {
                Type::Graph { nodes, .. } => pairs(nodes),
                _ => Vec::new(),
            },
            Type::Union { tag, of, variants, .. } => {
                let variants = variants.iter().map(|variant| (variant.name.clone(), variant.of));
                [(tag.clone(), *of)].into_iter().chain(variants).collect()
            }
            _ => Vec::new(),
        };
        match fields.iter().find(|(name, _)| *name == field.text) {
            Some((_, of)) => *of,
            None => self.report_no_member(of, field, "field", fields.iter().map(|(name, _)| name)),
        }
    }

    /// Reports that a type has no such field or operation.
    pub fn report_no_member<'n>(
        &mut self,
        of: TypeId,
        member: &Name,
        what: &str,
        known: impl Iterator<Item = &'n String>,
    ) -> TypeId {
        let known: Vec<&str> = known.map(String::as_str).collect();
        let help = did_you_mean(&member.text, known.iter().copied()).or_else(|| match &known[..] {
            [] => None,
            known => Some(format!("it has these: {}", known.join(", "))),
        });
        let help = help.unwrap_or_else(|| format!("it has no {what}s at all"));
        let message = format!("`{}` has no {what} `{}`", self.describe(of), member.text);
        let label = format!("no such {what}");
        self.report(Diagnostic::new(Code::Member, message, member.span, label).help(help));
        Types::UNKNOWN
    }

    fn index(
        &mut self,
        context: &mut Context,
        of: &'t Expression,
        indices: &'t [Expression],
    ) -> TypeId {
        let array = self.infer(context, of);
        let (expected, element) = match self.types.get(array).clone() {
            Type::Array { indices, of } => (indices, of),
            Type::Text => (vec![Types::INTEGER], Types::CHAR),
            Type::Graph { .. } => {
                let name = self.types.intern(Type::NodeName(array));
                (vec![name], self.types.intern(Type::Node(array)))
            }
            other => {
                for index in indices {
                    self.infer(context, index);
                }
                if other != Type::Unknown {
                    let message = format!("`{}` cannot be indexed", self.describe(array));
                    let diagnostic = Diagnostic::new(Code::Use, message, of.span, "not an array")
                        .help("arrays, strings and graphs are indexed");
                    self.report(diagnostic);
                }
                return Types::UNKNOWN;
            }
        };
        let span = indices.first().map_or(of.span, |index| index.span);
        self.expect_count(span, "indices", expected.len(), indices.len());
        for (index, expected) in indices.iter().zip(expected) {
            self.expect(context, index, expected);
        }
        element
    }

    /// Reports that there are too few or too many of something.
    pub fn expect_count(&mut self, span: Span, what: &str, expected: usize, found: usize) {
        if expected != found {
            let what = match (expected, what) {
                (1, "indices") => "index",
                (1, what) => what.trim_end_matches('s'),
                (_, what) => what,
            };
            let message = format!("expected {expected} {what}, found {found}");
            let label = if found < expected { "too few" } else { "too many" };
            let help = format!("write {expected} {what}");
            self.report(Diagnostic::new(Code::Count, message, span, label).help(help));
        }
    }
}

fn pairs(fields: &[FieldType]) -> Vec<(String, TypeId)> {
    fields.iter().map(|field| (field.name.clone(), field.of)).collect()
}
