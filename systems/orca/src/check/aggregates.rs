//! Aggregates: records, arrays, sets and bags written out.

use super::expressions::Expressions;
use super::types::{Type, TypeId, Types};
use crate::diagnostics::{Code, Diagnostic};
use crate::source::Span;
use crate::tree::{Aggregate, Expression, TypeSyntax};

impl<'t> Expressions<'_, 't> {
    pub fn aggregate(
        &mut self,
        span: Span,
        (form, written): (Aggregate, Option<&'t TypeSyntax>),
        elements: &'t [Expression],
        expected: Option<TypeId>,
    ) -> TypeId {
        let scope = self.scope;
        let of = match written {
            Some(syntax) => Some(self.resolver().resolve(scope, syntax).0),
            None => expected,
        };
        let Some(of) = of else { return self.bare_aggregate(span, form, elements) };
        match (form, self.symbols.types.get(of).clone()) {
            (Aggregate::List, Type::Array { indices, of: element }) => {
                if indices.len() != 1 {
                    self.symbols.expect_count(span, "dimensions", 1, indices.len());
                }
                self.all(elements, element);
            }
            (Aggregate::List, Type::Record { fields, .. }) => {
                self.symbols.expect_count(span, "fields", fields.len(), elements.len());
                for (element, field) in elements.iter().zip(&fields) {
                    self.expect(element, field.of);
                }
            }
            (Aggregate::Set, Type::Set(element) | Type::Bag(element)) => {
                self.all(elements, element);
            }
            (_, Type::Unknown) => return self.bare_aggregate(span, form, elements),
            (form, _) => {
                let message = format!("{} is no {}", described(form), self.symbols.describe(of));
                let help = match form {
                    Aggregate::List => "`[...]` makes records and arrays, `{...}` sets and bags",
                    Aggregate::Set => "`{...}` makes sets and bags, `[...]` records and arrays",
                };
                let label = format!("{} is expected", self.symbols.describe(of));
                self.symbols
                    .report(Diagnostic::new(Code::Mismatch, message, span, label).help(help));
                for element in elements {
                    self.infer(element);
                }
                return Types::UNKNOWN;
            }
        }
        if self.symbols.types.holds_objects(of) {
            self.symbols.report_copied(span, of);
        }
        of
    }

    fn all(&mut self, elements: &'t [Expression], of: TypeId) {
        for element in elements {
            self.expect(element, of);
        }
    }

    /// An aggregate at a place that expects no type: that of the first element decides.
    fn bare_aggregate(
        &mut self,
        span: Span,
        form: Aggregate,
        elements: &'t [Expression],
    ) -> TypeId {
        let Some((first, others)) = elements.split_first() else {
            let message = "the type of this cannot be told";
            let diagnostic = Diagnostic::new(Code::Untyped, message, span, "of which type?")
                .help("write its type before it: `T: {}`");
            self.symbols.report(diagnostic);
            return Types::UNKNOWN;
        };
        let of = self.infer(first);
        self.all(others, of);
        self.symbols.types.intern(match form {
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
