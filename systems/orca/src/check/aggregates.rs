//! Aggregates: records, arrays, sets and bags written out.

use super::Checker;
use super::expressions::Context;
use super::types::{Type, TypeId, Types};
use crate::diagnostics::{Code, Diagnostic};
use crate::source::Span;
use crate::tree::{Aggregate, Expression, TypeSyntax};

impl<'t> Checker<'t> {
    pub fn aggregate(
        &mut self,
        context: &mut Context,
        span: Span,
        (form, written): (Aggregate, Option<&'t TypeSyntax>),
        elements: &'t [Expression],
        expected: Option<TypeId>,
    ) -> TypeId {
        let of = match written {
            Some(syntax) => Some(self.resolve(context.scope, syntax).0),
            None => expected,
        };
        let Some(of) = of else { return self.bare_aggregate(context, span, form, elements) };
        match (form, self.types.get(of).clone()) {
            (Aggregate::List, Type::Array { indices, of: element }) => {
                if indices.len() != 1 {
                    self.expect_count(span, "dimensions", 1, indices.len());
                }
                self.all(context, elements, element);
            }
            (Aggregate::List, Type::Record { fields, .. }) => {
                self.expect_count(span, "fields", fields.len(), elements.len());
                for (element, field) in elements.iter().zip(&fields) {
                    self.expect(context, element, field.of);
                }
            }
            (Aggregate::Set, Type::Set(element) | Type::Bag(element)) => {
                self.all(context, elements, element);
            }
            (_, Type::Unknown) => return self.bare_aggregate(context, span, form, elements),
            (form, _) => {
                let message = format!("{} is no {}", described(form), self.describe(of));
                let help = match form {
                    Aggregate::List => "`[...]` makes records and arrays, `{...}` sets and bags",
                    Aggregate::Set => "`{...}` makes sets and bags, `[...]` records and arrays",
                };
                let label = format!("{} is expected", self.describe(of));
                self.report(Diagnostic::new(Code::Mismatch, message, span, label).help(help));
                for element in elements {
                    self.infer(context, element);
                }
                return Types::UNKNOWN;
            }
        }
        if self.types.holds_objects(of) {
            self.report_copied(span, of);
        }
        of
    }

    fn all(&mut self, context: &mut Context, elements: &'t [Expression], of: TypeId) {
        for element in elements {
            self.expect(context, element, of);
        }
    }

    /// An aggregate at a place that expects no type: that of the first element decides.
    fn bare_aggregate(
        &mut self,
        context: &mut Context,
        span: Span,
        form: Aggregate,
        elements: &'t [Expression],
    ) -> TypeId {
        let Some((first, others)) = elements.split_first() else {
            let message = "the type of this cannot be told";
            let diagnostic = Diagnostic::new(Code::Untyped, message, span, "of which type?")
                .help("write its type before it: `T: {}`");
            self.report(diagnostic);
            return Types::UNKNOWN;
        };
        let of = self.infer(context, first);
        self.all(context, others, of);
        self.types.intern(match form {
            Aggregate::List => Type::Array { indices: vec![Types::INTEGER], of },
            Aggregate::Set => Type::Set(of),
        })
    }
}

fn described(form: Aggregate) -> &'static str {
    match form {
        Aggregate::List => "`[...]`",
        Aggregate::Set => "`{...}`",
    }
}
