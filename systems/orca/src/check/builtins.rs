//! Functions that every program has.

use super::Checker;
use super::expressions::Context;
use super::facts::Entity;
use super::scopes::Meaning;
use super::types::{Type, TypeId, Types};
use crate::diagnostics::{Code, Diagnostic};
use crate::source::Span;
use crate::tree::{Expression, ExpressionKind};

macro_rules! builtins {
    ($($(#[$doc:meta])* $builtin:ident = $name:literal,)*) => {
        /// A function that every program has.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Builtin { $($(#[$doc])* $builtin,)* }

        impl Builtin {
            /// All of them.
            pub const ALL: &[Builtin] = &[$(Builtin::$builtin,)*];

            /// Its name in programs.
            pub fn name(self) -> &'static str {
                match self { $(Builtin::$builtin => $name,)* }
            }
        }
    };
}

builtins! {
    /// Absolute value of a number.
    Abs = "abs",
    /// A new node of a graph: its name.
    AddNode = "addnode",
    /// A condition that must hold.
    Assert = "assert",
    /// The character with a number.
    Chr = "chr",
    /// Takes an element out of a set or bag.
    Delete = "delete",
    /// Takes a node out of a graph.
    DeleteNode = "deletenode",
    /// The exponential function.
    Exp = "exp",
    /// An integer as a real.
    Float = "float",
    /// Takes some element out of a set or bag, and returns it.
    From = "from",
    /// Puts an element into a set or bag.
    Insert = "insert",
    /// First index of an array, in the dimension that a second argument names (from 1).
    Lb = "lb",
    /// The natural logarithm.
    Ln = "ln",
    /// The larger of two values, or the largest of a type.
    Max = "max",
    /// The smaller of two values, or the smallest of a type.
    Min = "min",
    /// Number of the processor on which the caller runs, from 0.
    MyCpu = "MYCPU",
    /// The number of processors.
    Ncpus = "NCPUS",
    /// The number of a character, truth value or value of an enumeration.
    Ord = "ord",
    /// The nearest integer.
    Round = "round",
    /// The number of elements of an array, string, set or bag.
    Size = "size",
    /// The square root.
    Sqrt = "sqrt",
    /// The integer part of a real.
    Trunc = "trunc",
    /// Last index of an array, in the dimension that a second argument names (from 1).
    Ub = "ub",
    /// Writes values to the standard output.
    Write = "Write",
    /// Writes values and the end of a line.
    WriteLine = "WriteLine",
}

impl<'t> Checker<'t> {
    /// The type of what a built-in function returns.
    pub fn builtin(
        &mut self,
        context: &mut Context,
        builtin: Builtin,
        span: Span,
        arguments: &'t [Expression],
    ) -> TypeId {
        use Builtin::*;
        if let Some(count) = count(builtin, arguments.len()) {
            self.expect_count(span, "arguments", count, arguments.len());
            for argument in arguments {
                self.infer(context, argument);
            }
            return Types::UNKNOWN;
        }
        match (builtin, arguments) {
            (Write | WriteLine, values) => self.written(context, values),
            (Ncpus | MyCpu, _) => Types::INTEGER,
            (Assert, [condition]) => {
                self.expect(context, condition, Types::BOOLEAN);
                Types::NOTHING
            }
            (Float, [number]) => self.converted(context, number, Types::INTEGER, Types::REAL),
            (Trunc | Round, [number]) => {
                self.converted(context, number, Types::REAL, Types::INTEGER)
            }
            (Chr, [number]) => self.converted(context, number, Types::INTEGER, Types::CHAR),
            (Sqrt | Exp | Ln, [number]) => {
                self.converted(context, number, Types::REAL, Types::REAL)
            }
            (Abs, [number]) => {
                let of = self.infer(context, number);
                self.require(number.span, of, "a number", self.is_number(of))
            }
            (Ord, [value]) => {
                let of = self.infer(context, value);
                let discrete = self.types.is_discrete(of);
                self.require(value.span, of, "a character or an enumeration's value", discrete);
                Types::INTEGER
            }
            (Min | Max, [of]) => self.limit(context, of),
            (Min | Max, [first, second]) => {
                let of = self.infer(context, first);
                self.expect(context, second, of);
                self.require(first.span, of, "a number", self.is_number(of))
            }
            (Lb | Ub, [array, dimension @ ..]) => self.bound(context, array, dimension.first()),
            (Size, [value]) => self.size(context, value),
            (Insert | Delete, [element, set]) => {
                let of = self.collection(context, set).unwrap_or(Types::UNKNOWN);
                self.expect(context, element, of);
                Types::NOTHING
            }
            (From, [set]) => self.collection(context, set).unwrap_or(Types::UNKNOWN),
            (AddNode, [graph]) => {
                let of = self.graph(context, graph);
                of.map_or(Types::UNKNOWN, |of| self.types.intern(Type::NodeName(of)))
            }
            (DeleteNode, [graph, node]) => {
                let of = self.graph(context, graph);
                let of = of.map_or(Types::UNKNOWN, |of| self.types.intern(Type::NodeName(of)));
                self.expect(context, node, of);
                Types::NOTHING
            }
            _ => Types::UNKNOWN, // Counts are checked above.
        }
    }

    fn converted(
        &mut self,
        context: &mut Context,
        value: &'t Expression,
        from: TypeId,
        to: TypeId,
    ) -> TypeId {
        self.expect(context, value, from);
        to
    }

    fn is_number(&self, of: TypeId) -> bool {
        matches!(of, Types::INTEGER | Types::REAL | Types::UNKNOWN)
    }

    /// The type, if it is what a built-in function takes; otherwise that is reported.
    fn require(&mut self, span: Span, of: TypeId, what: &str, holds: bool) -> TypeId {
        if holds || of == Types::UNKNOWN {
            return of;
        }
        let found = self.describe(of);
        let message = format!("expected {what}, found {found}");
        let label = format!("this is {found}");
        let help = format!("write {what}");
        self.report(Diagnostic::new(Code::Mismatch, message, span, label).help(help));
        Types::UNKNOWN
    }

    fn written(&mut self, context: &mut Context, values: &'t [Expression]) -> TypeId {
        for value in values {
            let of = self.infer(context, value);
            let printable = matches!(
                self.types.get(of),
                Type::Integer
                    | Type::Real
                    | Type::Boolean
                    | Type::Char
                    | Type::Text
                    | Type::Enumeration { .. }
            );
            self.require(value.span, of, "a number, text or value of an enumeration", printable);
        }
        Types::NOTHING
    }

    /// Smallest or largest value of a type that is named.
    fn limit(&mut self, context: &mut Context, named: &'t Expression) -> TypeId {
        let meaning = match &named.kind {
            ExpressionKind::Name(name) => self.look_up(context.scope, name),
            ExpressionKind::Field { of, field } => self.exported(context, of, field).flatten(),
            _ => None,
        };
        let of = match meaning {
            Some(Meaning::Basic(of)) => of,
            Some(Meaning::Definition(id)) => self.definition(id).0,
            _ => {
                self.infer(context, named);
                let message = "expected a type, or a second argument";
                let diagnostic =
                    Diagnostic::new(Code::Count, message, named.span, "only one value")
                        .help("write `max(a, b)`, or `max(integer)` for the largest of all");
                self.report(diagnostic);
                return Types::UNKNOWN;
            }
        };
        self.meanings.insert(named.id, Entity::Type(of));
        let ordered = self.types.is_discrete(of) || of == Types::REAL;
        self.require(named.span, of, "a type with a smallest and largest value", ordered)
    }

    fn bound(
        &mut self,
        context: &mut Context,
        array: &'t Expression,
        dimension: Option<&'t Expression>,
    ) -> TypeId {
        let of = self.infer(context, array);
        let Type::Array { indices, .. } = self.types.get(of).clone() else {
            self.require(array.span, of, "an array", false);
            return Types::UNKNOWN;
        };
        let Some(dimension) = dimension else { return indices[0] };
        if !self.expect(context, dimension, Types::INTEGER) {
            return Types::UNKNOWN;
        }
        let number = match self.evaluate(dimension) {
            Some(super::Value::Integer(number)) => usize::try_from(number).ok(),
            _ => None,
        };
        match number.and_then(|number| indices.get(number.wrapping_sub(1))) {
            Some(of) => *of,
            None => {
                let message = format!("the dimension is a constant from 1 to {}", indices.len());
                let diagnostic =
                    Diagnostic::new(Code::Constant, message, dimension.span, "no such dimension")
                        .help("write its number, as in `lb(a, 2)`");
                self.report(diagnostic);
                Types::UNKNOWN
            }
        }
    }

    fn size(&mut self, context: &mut Context, value: &'t Expression) -> TypeId {
        let of = self.infer(context, value);
        let sized = matches!(
            self.types.get(of),
            Type::Array { .. } | Type::Set(_) | Type::Bag(_) | Type::Text
        );
        self.require(value.span, of, "an array, string, set or bag", sized);
        Types::INTEGER
    }

    /// Type of the elements of a set or bag that is changed.
    fn collection(&mut self, context: &mut Context, set: &'t Expression) -> Option<TypeId> {
        let of = self.infer(context, set);
        match *self.types.get(of) {
            Type::Set(element) | Type::Bag(element) => {
                self.change(context, set, of, Code::Out);
                Some(element)
            }
            _ => {
                self.require(set.span, of, "a set or bag", false);
                None
            }
        }
    }

    /// The graph that is changed.
    fn graph(&mut self, context: &mut Context, graph: &'t Expression) -> Option<TypeId> {
        let of = self.infer(context, graph);
        if matches!(self.types.get(of), Type::Graph { .. }) {
            self.change(context, graph, of, Code::Out);
            return Some(of);
        }
        self.require(graph.span, of, "a graph", false);
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
