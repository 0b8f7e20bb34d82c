//! Values with which variables begin: arrays with their bounds, objects initialised.

use super::Generator;
use super::code::Code;
use super::names::{object_name, quoted};
use super::statements::Statements;
use super::values::address;
use super::visits::bounds;
use crate::check::{Entity, FieldType, Shape, Type, TypeId, VariableId};
use crate::source::Span;
use crate::tree::walk::each_expression;

impl Generator<'_> {
    /// True if zero is not all that a variable begins with.
    fn begins(&self, of: TypeId, shape: &Shape) -> bool {
        let fields =
            |fields: &[FieldType]| fields.iter().any(|field| self.begins(field.of, &field.shape));
        match (self.facts.types.get(of), shape) {
            (_, Shape::Array { bounds, of: inner }) if bounds.is_empty() => match inner.as_ref() {
                Shape::Plain => false,
                inner => self.begins(of, inner),
            },
            (_, Shape::Array { .. }) => true,
            (Type::Record { fields: all, .. } | Type::Graph { fields: all, .. }, _) => fields(all),
            (Type::Union { variants, .. }, _) => {
                variants.iter().any(|one| self.begins(one.of, &one.shape))
            }
            (Type::Object(_), _) => true,
            _ => false,
        }
    }
}

impl Code<'_, '_> {
    /// Gives a place, which is zero, the value with which a variable of this shape begins.
    pub fn begin(
        &mut self,
        place: &str,
        of: TypeId,
        shape: &Shape,
        span: Span,
        variable: VariableId,
    ) {
        let generator = self.generator;
        if !generator.begins(of, shape) {
            return;
        }
        match generator.facts.types.get(of) {
            Type::Array { of: element, .. } => {
                let Shape::Array { bounds, of: inner } = shape else { return };
                if bounds.is_empty() {
                    return; // Its elements come with another value.
                }
                let numbers: Vec<String> = bounds
                    .iter()
                    .flat_map(|(first, last)| [first, last])
                    .map(|bound| self.flat(bound))
                    .collect();
                let (name, where_) = (generator.type_name(of), self.generator.place(span));
                let numbers = numbers.join(", ");
                self.out.line(&format!(
                    "{place} = {name}_make((const int64_t[]){{{numbers}}}, {where_});"
                ));
                if generator.begins(*element, inner) {
                    let index = format!("i{}", self.out.number());
                    self.out.open(&format!(
                        "for (size_t {index} = 0; {index} < {name}_size(&{place}); {index}++) {{"
                    ));
                    self.begin(&format!("{place}.at[{index}]"), *element, inner, span, variable);
                    self.out.close("}");
                }
            }
            Type::Record { fields, .. } => {
                self.begin_fields(place, "f_", fields, (span, variable));
            }
            Type::Graph { fields, .. } => {
                self.begin_fields(place, "fields.f_", fields, (span, variable));
            }
            Type::Union { variants, .. } => {
                for one in variants {
                    let place = format!("{place}.f_{}", one.name);
                    self.begin(&place, one.of, &one.shape, span, variable);
                }
            }
            Type::Object(object) => {
                let home = generator.placement(*object, variable);
                let name = quoted(&generator.facts.variable(variable).name);
                let target = address(place);
                self.out
                    .line(&format!("{}_begin({target}, {name}, {home});", object_name(*object)));
            }
            _ => {}
        }
    }

    pub fn begin_fields(
        &mut self,
        place: &str,
        prefix: &str,
        fields: &[FieldType],
        (span, variable): (Span, VariableId),
    ) {
        for field in fields {
            self.check_bounds(&field.shape);
            let place = format!("{place}.{prefix}{}", field.name);
            self.begin(&place, field.of, &field.shape, span, variable);
        }
    }

    /// Refuses bounds of a field that depend on a variable, which is not there where a record is.
    fn check_bounds(&self, shape: &Shape) {
        for bound in bounds(shape) {
            each_expression(bound, &mut |part| {
                let meaning = self.generator.facts.meanings.get(&part.id);
                if matches!(meaning, Some(Entity::Variable(_))) {
                    self.generator.refuse(part.span, "bounds of a field that depend on a variable");
                }
            });
        }
    }
}

impl Statements<'_, '_> {
    /// Declares a variable of the program, and lets it begin.
    pub fn declare(&mut self, id: VariableId) {
        let facts = self.code.generator.facts.variable(id);
        let name = self.code.generator.variable_name(id);
        self.code.slot_named(facts.of, &name);
        self.begin_again(id, &name);
    }

    /// Lets a variable begin, whatever it held.
    fn begin_again(&mut self, id: VariableId, place: &str) {
        let facts = self.code.generator.facts.variable(id);
        if !self.code.generator.is_flat(facts.of) {
            let of = self.code.generator.type_name(facts.of);
            self.code.out.line(&format!("{of}_free(&{place});"));
        }
        self.code.out.line(&format!("memset(&{place}, 0, sizeof {place});"));
        self.code.begin(place, facts.of, &facts.shape, facts.span, id);
    }
}
