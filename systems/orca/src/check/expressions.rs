//! The types of expressions.

use super::facts::RoutineId;
use super::resolve::Resolver;
use super::scopes::ScopeId;
use super::symbols::Symbols;
use super::types::{FieldType, Type, TypeId, Types};
use super::uses::{EffectState, times};
use crate::diagnostics::{Code, Diagnostic};
use crate::source::Span;
use crate::tree::{Expression, ExpressionKind, Name, unquoted};

/// Expressions at one place, which have types and effects.
pub struct Expressions<'s, 't> {
    pub symbols: &'s mut Symbols<'t>,
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

impl<'s, 't> Expressions<'s, 't> {
    /// Those outside of statements.
    pub fn outside(symbols: &'s mut Symbols<'t>, scope: ScopeId) -> Self {
        let effect = EffectState::default();
        Expressions { symbols, scope, routine: None, loops: 0, conditions: 0, effect }
    }
}

impl<'t> Expressions<'_, 't> {
    /// Expected frequency with which this place is reached.
    pub fn times(&self) -> u64 {
        times(self.loops, self.conditions)
    }

    /// Resolver of the types that expressions name.
    pub fn resolver(&mut self) -> Resolver<'_, 't> {
        Resolver { symbols: self.symbols }
    }

    /// The type of an expression of which nothing is known.
    pub fn infer(&mut self, expression: &'t Expression) -> TypeId {
        self.typed(expression, None)
    }

    /// Checks that an expression has a type. `false` if that was reported.
    pub fn expect(&mut self, expression: &'t Expression, expected: TypeId) -> bool {
        let found = self.typed(expression, Some(expected));
        if self.symbols.types.agree(expected, found) {
            return true;
        }
        self.symbols.report_mismatch(expression.span, expected, found);
        false
    }

    /// The type of an expression, which is kept. `expected` helps where an expression alone does
    /// not tell its type.
    pub fn typed(&mut self, expression: &'t Expression, expected: Option<TypeId>) -> TypeId {
        let of = self.untyped(expression, expected);
        self.symbols.typed[expression.id.0 as usize] = of;
        of
    }

    fn untyped(&mut self, expression: &'t Expression, expected: Option<TypeId>) -> TypeId {
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
            ExpressionKind::Name(name) => self.name(expression, name),
            ExpressionKind::Field { of, field } => self.field(expression, of, field),
            ExpressionKind::Index { of, indices } => self.index(of, indices),
            ExpressionKind::Call { callee, arguments } => self.call(expression, callee, arguments),
            ExpressionKind::Operation { object, operation, arguments } => {
                self.operation_call(expression, object, operation, arguments)
            }
            ExpressionKind::Unary { operator, operand } => self.unary(*operator, operand),
            ExpressionKind::Binary { operator, left, right } => {
                self.binary(expression.span, *operator, (left, right), expected)
            }
            ExpressionKind::Aggregate { form, of, elements } => {
                self.aggregate(expression.span, (*form, of.as_deref()), elements, expected)
            }
            ExpressionKind::Parenthesised(inner) => self.typed(inner, expected),
            ExpressionKind::Malformed => Types::UNKNOWN,
        }
    }

    fn check_literal(&mut self, fits: bool, span: Span, help: &str) {
        if !fits {
            let message = "this number is too large";
            let diagnostic = Diagnostic::new(Code::Literal, message, span, "does not fit");
            self.symbols.report(diagnostic.help(help));
        }
    }

    fn check_escapes(&mut self, text: &str, span: Span) {
        if unquoted(text).is_none() {
            let message = "unknown escape in a text";
            let help = "these exist: \\n \\t \\0 \\\\ \\' \\\"";
            let diagnostic = Diagnostic::new(Code::Literal, message, span, "has an unknown escape");
            self.symbols.report(diagnostic.help(help));
        }
    }

    fn field(&mut self, expression: &'t Expression, of: &'t Expression, field: &'t Name) -> TypeId {
        if let Some(meaning) = self.exported(of, field) {
            return match meaning {
                Some(meaning) => self.value(expression, meaning, &field.text),
                None => Types::UNKNOWN,
            };
        }
        let of = self.infer(of);
        let fields: Vec<(String, TypeId)> = match self.symbols.types.get(of) {
            Type::Unknown => return Types::UNKNOWN,
            Type::Record { fields, .. } | Type::Graph { fields, .. } => pairs(fields),
            Type::Node(graph) => match self.symbols.types.get(*graph) {
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
            None => self.symbols.report_no_member(
                of,
                field,
                "field",
                fields.iter().map(|(name, _)| name),
            ),
        }
    }

    fn index(&mut self, of: &'t Expression, indices: &'t [Expression]) -> TypeId {
        let array = self.infer(of);
        let (expected, element) = match self.symbols.types.get(array).clone() {
            Type::Array { indices, of } => (indices, of),
            Type::Text => (vec![Types::INTEGER], Types::CHAR),
            Type::Graph { .. } => {
                let name = self.symbols.types.intern(Type::NodeName(array));
                (vec![name], self.symbols.types.intern(Type::Node(array)))
            }
            other => {
                for index in indices {
                    self.infer(index);
                }
                if other != Type::Unknown {
                    let message = format!("`{}` cannot be indexed", self.symbols.describe(array));
                    let diagnostic = Diagnostic::new(Code::Use, message, of.span, "not an array")
                        .help("arrays, strings and graphs are indexed");
                    self.symbols.report(diagnostic);
                }
                return Types::UNKNOWN;
            }
        };
        let span = indices.first().map_or(of.span, |index| index.span);
        self.symbols.expect_count(span, "indices", expected.len(), indices.len());
        for (index, expected) in indices.iter().zip(expected) {
            self.expect(index, expected);
        }
        element
    }
}

fn pairs(fields: &[FieldType]) -> Vec<(String, TypeId)> {
    fields.iter().map(|field| (field.name.clone(), field.of)).collect()
}
