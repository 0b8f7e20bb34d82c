//! Functions that every program has.

use super::builtin::Builtin;
use super::expressions::Expressions;
use super::facts::{Entity, Value};
use super::scopes::Meaning;
use super::types::{Type, TypeId, Types};
use crate::diagnostics::{Code, Diagnostic};
use crate::source::Span;
use crate::tree::{Expression, ExpressionKind};

impl<'t> Expressions<'_, 't> {
    /// The type of what a built-in function returns.
    pub fn builtin(&mut self, builtin: Builtin, span: Span, arguments: &'t [Expression]) -> TypeId {
        use Builtin::*;
        if let Some(count) = count(builtin, arguments.len()) {
            self.symbols.expect_count(span, "arguments", count, arguments.len());
            for argument in arguments {
                self.infer(argument);
            }
            return Types::UNKNOWN;
        }
        match (builtin, arguments) {
            (Write | WriteLine, values) => self.written(values),
            (Ncpus | MyCpu, _) => Types::INTEGER,
            (Assert, [condition]) => {
                self.expect(condition, Types::BOOLEAN);
                Types::NOTHING
            }
            (Float, [number]) => self.converted(number, Types::INTEGER, Types::REAL),
            (Trunc | Round, [number]) => self.converted(number, Types::REAL, Types::INTEGER),
            (Chr, [number]) => self.converted(number, Types::INTEGER, Types::CHAR),
            (Sqrt | Exp | Ln, [number]) => self.converted(number, Types::REAL, Types::REAL),
            (Abs, [number]) => {
                let of = self.infer(number);
                self.symbols.require(number.span, of, "a number", self.symbols.types.is_number(of))
            }
            (Ord, [value]) => {
                let of = self.infer(value);
                let discrete = self.symbols.types.is_discrete(of);
                self.symbols.require(
                    value.span,
                    of,
                    "a character or an enumeration's value",
                    discrete,
                );
                Types::INTEGER
            }
            (Min | Max, [of]) => self.limit(of),
            (Min | Max, [first, second]) => {
                let of = self.infer(first);
                self.expect(second, of);
                self.symbols.require(first.span, of, "a number", self.symbols.types.is_number(of))
            }
            (Lb | Ub, [array, dimension @ ..]) => self.bound(array, dimension.first()),
            (Size, [value]) => self.size(value),
            (Insert | Delete, [element, set]) => {
                let of = self.collection(set).unwrap_or(Types::UNKNOWN);
                self.expect(element, of);
                Types::NOTHING
            }
            (From, [set]) => self.collection(set).unwrap_or(Types::UNKNOWN),
            (AddNode, [graph]) => {
                let of = self.graph(graph);
                of.map_or(Types::UNKNOWN, |of| self.symbols.types.intern(Type::NodeName(of)))
            }
            (DeleteNode, [graph, node]) => {
                let of = self.graph(graph);
                let of =
                    of.map_or(Types::UNKNOWN, |of| self.symbols.types.intern(Type::NodeName(of)));
                self.expect(node, of);
                Types::NOTHING
            }
            _ => Types::UNKNOWN, // Counts are checked above.
        }
    }

    fn converted(&mut self, value: &'t Expression, from: TypeId, to: TypeId) -> TypeId {
        self.expect(value, from);
        to
    }

    fn written(&mut self, values: &'t [Expression]) -> TypeId {
        for value in values {
            let of = self.infer(value);
            let printable = matches!(
                self.symbols.types.get(of),
                Type::Integer
                    | Type::Real
                    | Type::Boolean
                    | Type::Char
                    | Type::Text
                    | Type::Enumeration { .. }
            );
            self.symbols.require(
                value.span,
                of,
                "a number, text or value of an enumeration",
                printable,
            );
        }
        Types::NOTHING
    }

    /// Smallest or largest value of a type that is named.
    fn limit(&mut self, named: &'t Expression) -> TypeId {
        let meaning = match &named.kind {
            ExpressionKind::Name(name) => self.symbols.scopes.look_up(self.scope, name),
            ExpressionKind::Field { of, field } => self.exported(of, field).flatten(),
            _ => None,
        };
        let of = match meaning {
            Some(Meaning::Basic(of)) => of,
            Some(Meaning::Definition(id)) => self.resolver().definition(id).0,
            _ => {
                self.infer(named);
                let message = "expected a type, or a second argument";
                let diagnostic =
                    Diagnostic::new(Code::Count, message, named.span, "only one value")
                        .help("write `max(a, b)`, or `max(integer)` for the largest of all");
                self.symbols.report(diagnostic);
                return Types::UNKNOWN;
            }
        };
        self.symbols.meanings.insert(named.id, Entity::Type(of));
        let ordered = self.symbols.types.is_discrete(of) || of == Types::REAL;
        self.symbols.require(named.span, of, "a type with a smallest and largest value", ordered)
    }

    fn bound(&mut self, array: &'t Expression, dimension: Option<&'t Expression>) -> TypeId {
        let of = self.infer(array);
        let Type::Array { indices, .. } = self.symbols.types.get(of).clone() else {
            self.symbols.require(array.span, of, "an array", false);
            return Types::UNKNOWN;
        };
        let Some(dimension) = dimension else { return indices[0] };
        if !self.expect(dimension, Types::INTEGER) {
            return Types::UNKNOWN;
        }
        let number = match self.resolver().evaluate(dimension) {
            Some(Value::Integer(number)) => usize::try_from(number).ok(),
            _ => None,
        };
        match number.and_then(|number| indices.get(number.wrapping_sub(1))) {
            Some(of) => *of,
            None => {
                let message = format!("the dimension is a constant from 1 to {}", indices.len());
                let diagnostic =
                    Diagnostic::new(Code::Constant, message, dimension.span, "no such dimension")
                        .help("write its number, as in `lb(a, 2)`");
                self.symbols.report(diagnostic);
                Types::UNKNOWN
            }
        }
    }

    fn size(&mut self, value: &'t Expression) -> TypeId {
        let of = self.infer(value);
        let sized = matches!(
            self.symbols.types.get(of),
            Type::Array { .. } | Type::Set(_) | Type::Bag(_) | Type::Text
        );
        self.symbols.require(value.span, of, "an array, string, set or bag", sized);
        Types::INTEGER
    }

    /// Type of the elements of a set or bag that is changed.
    fn collection(&mut self, set: &'t Expression) -> Option<TypeId> {
        let of = self.infer(set);
        match *self.symbols.types.get(of) {
            Type::Set(element) | Type::Bag(element) => {
                self.change(set, of, Code::Out);
                Some(element)
            }
            _ => {
                self.symbols.require(set.span, of, "a set or bag", false);
                None
            }
        }
    }

    /// The graph that is changed.
    fn graph(&mut self, graph: &'t Expression) -> Option<TypeId> {
        let of = self.infer(graph);
        if matches!(self.symbols.types.get(of), Type::Graph { .. }) {
            self.change(graph, of, Code::Out);
            return Some(of);
        }
        self.symbols.require(graph.span, of, "a graph", false);
        None
    }
}

/// The number of arguments that is expected, if there are others.
fn count(builtin: Builtin, found: usize) -> Option<usize> {
    use Builtin::*;
    let (least, most) = match builtin {
        Write | WriteLine => return None,
        Ncpus | MyCpu => (0, 0),
        Min | Max | Lb | Ub => (1, 2),
        Insert | Delete | DeleteNode => (2, 2),
        _ => (1, 1),
    };
    if found < least {
        Some(least)
    } else if found > most {
        Some(most)
    } else {
        None
    }
}
