//! Loops that count, or go through elements.

use super::statements::Statements;
use super::unchecked::{Access, CountedLoop, Hoistable, Index};
use super::values::{Value, address};
use crate::check::{Entity, Type, VariableId};
use crate::tree::walk::{each_statement, expressions};
use crate::tree::{BinaryOperator, Block, Expression, Name, Range, StatementKind};

impl Statements<'_, '_> {
    pub fn counted(&mut self, variable: &Name, range: &Range, body: &Block) {
        let Some(Entity::Variable(id)) = self.code.generator.facts.declared.get(&variable.span)
        else {
            return;
        };
        match range {
            Range::Bounds(first, last) => self.count(*id, first, last, body),
            Range::Elements(elements) => self.each(*id, elements, body),
        }
    }

    /// Counts from one value to another.
    fn count(&mut self, id: VariableId, first: &Expression, last: &Expression, body: &Block) {
        let at = self.code.generator.place(last.span);
        let (from, to) = (self.code.flat(first), self.code.flat(last));
        let number = self.code.out.number();
        let (first, last) = (format!("first{number}"), format!("last{number}"));
        self.code.out.open("{");
        self.code.out.line(&format!("const int64_t {first} = (int64_t)({from});"));
        self.code.out.line(&format!("const int64_t {last} = orca_last((int64_t)({to}), {at});"));
        let generator = self.code.generator;
        let accesses = CountedLoop { generator, counted: id, body }.hoistable();
        if accesses.is_empty() {
            self.count_body(id, (&first, &last), body);
        } else {
            self.count_twice(id, (&first, &last), body, accesses);
        }
        self.code.out.close("}");
    }

    /// The loop itself.
    pub fn count_body(&mut self, id: VariableId, (first, last): (&str, &str), body: &Block) {
        let name = self.code.generator.variable_name(id);
        let of = self.code.generator.type_name(self.code.generator.facts.variable(id).of);
        let index = format!("n{}", self.code.out.number());
        self.enter_loop();
        self.code
            .out
            .open(&format!("for (int64_t {index} = {first}; {index} <= {last}; {index}++) {{"));
        self.code.out.line(&format!("const {of} {name} = ({of}){index};"));
        self.code.out.line(&format!("(void){name};"));
        self.block(body);
        self.code.out.close("}");
        self.leave_loop();
    }

    /// Goes through the elements of a set, bag, array or string, as they are at its beginning.
    fn each(&mut self, id: VariableId, elements: &Expression, body: &Block) {
        let of = self.code.of(elements);
        let name = self.code.generator.type_name(of);
        let value = self.code.value(elements);
        let stays = self.stays(elements, body);
        let place = match value {
            Value::Place(text) if !stays => {
                self.code.put(of, Value::Fresh(format!("{name}_copy({})", address(&text))))
            }
            value => self.code.put(of, value),
        };
        let number = self.code.out.number();
        let (all, index) = (format!("all{number}"), format!("n{number}"));
        let size = match self.code.generator.facts.types.get(of) {
            Type::Text | Type::Array { .. } => format!("(int64_t){name}_size({all})"),
            _ => format!("{all}->size"),
        };
        let element = self.code.generator.facts.variable(id).of;
        let of = self.code.generator.type_name(element);
        let variable = self.code.generator.variable_name(id);
        self.code.out.open("{");
        self.code.out.line(&format!("const {name} *{all} = {};", address(&place)));
        self.code.out.line(&format!("const int64_t size{number} = {size};"));
        self.enter_loop();
        self.code
            .out
            .open(&format!("for (int64_t {index} = 0; {index} < size{number}; {index}++) {{"));
        // Not freed: it is the collection's.
        self.code.out.line(&format!("{of} {variable} = {all}->at[{index}];"));
        self.block(body);
        self.code.out.close("}");
        self.leave_loop();
        self.code.out.close("}");
    }

    /// True if nothing in a block changes the variable that an expression is a part of.
    fn stays(&self, expression: &Expression, body: &Block) -> bool {
        let Some(root) = self.code.generator.root(expression) else { return true };
        let mut stays = true;
        each_statement(body, &mut |statement| {
            let assigned = match &statement.kind {
                StatementKind::Assign { target, .. } => Some(target),
                _ => None,
            };
            let passed = expressions(statement)
                .into_iter()
                .flat_map(|one| self.code.generator.changed_by(one));
            let mut changed = assigned.into_iter().chain(passed);
            stays &= !changed.any(|target| self.code.generator.root(target) == Some(root));
        });
        stays
    }

    /// The checks, and both loops.
    pub fn count_twice(
        &mut self,
        id: VariableId,
        (first, last): (&str, &str),
        body: &Block,
        accesses: Vec<Hoistable<'_>>,
    ) {
        let inside = format!("inside{}", self.code.out.number());
        self.code.out.line(&format!("bool {inside} = {first} <= {last};"));
        let mut all = Vec::new();
        for access in accesses {
            let made = self.access(id, (first, last), &inside, &access);
            all.push((access.element.id, made));
        }
        self.code.unchecked.extend(all.iter().cloned());
        self.code.out.open(&format!("if ({inside}) {{"));
        self.count_body(id, (first, last), body);
        self.code.out.close("} else {");
        for (element, _) in &all {
            self.code.unchecked.remove(element);
        }
        self.code.out.open_only();
        self.count_body(id, (first, last), body);
        self.code.out.close("}");
    }

    /// Checks the indices of an element in all passes, and finds that of the first.
    fn access(
        &mut self,
        id: VariableId,
        (first, last): (&str, &str),
        inside: &str,
        access: &Hoistable<'_>,
    ) -> Access {
        let of = self.code.of(access.array);
        let name = self.code.generator.type_name(of);
        let element = self.code.generator.type_name(self.code.of(access.element));
        let number = self.code.out.number();
        let (array, pointer) = (format!("array{number}"), format!("element{number}"));
        let place = self.code.lvalue(access.array);
        self.code.out.line(&format!("const {name} *{array} = {};", address(&place)));
        let mut offset = String::from("0");
        let mut stride = None;
        for (d, index) in access.indices.iter().enumerate() {
            let (from, to) = self.range(index, (first, last));
            let (lower, count) = (format!("{array}->lower[{d}]"), format!("{array}->count[{d}]"));
            self.code.out.line(&format!(
                "{inside} = {inside} && orca_inside({from}, {to}, {lower}, {count});"
            ));
            offset = format!("({offset}) * {count} + orca_subtract({from}, {lower})");
            if index.counts {
                let after = d + 1..access.indices.len();
                let counts: Vec<String> = after.map(|d| format!("{array}->count[{d}]")).collect();
                stride = Some(match counts.is_empty() {
                    true => "1".to_owned(),
                    false => counts.join(" * "),
                });
            }
        }
        self.code
            .out
            .line(&format!("{element} *{pointer} = {inside} ? {array}->at + ({offset}) : NULL;"));
        let passes = stride.map(|stride| {
            let step = format!("stride{number}");
            if stride == "1" {
                return stride;
            }
            self.code.out.line(&format!("const int64_t {step} = {stride};"));
            step
        });
        let counted = self.code.generator.variable_name(id);
        let passes = passes.map(|stride| (format!("(int64_t){counted} - {first}"), stride));
        Access { pointer, passes }
    }

    /// First and last value of an index.
    fn range(&mut self, index: &Index<'_>, (first, last): (&str, &str)) -> (String, String) {
        let number = index.number.as_ref().map(|(operator, number)| {
            let text = self.code.flat(number);
            let function = match operator {
                BinaryOperator::Subtract => "orca_subtract",
                _ => "orca_add",
            };
            (function, format!("(int64_t)({text})"))
        });
        match (index.counts, number) {
            (true, None) => (first.to_owned(), last.to_owned()),
            (true, Some((function, number))) => {
                (format!("{function}({first}, {number})"), format!("{function}({last}, {number})"))
            }
            (false, number) => {
                let number = number.map_or_else(|| "0".to_owned(), |(_, number)| number);
                (number.clone(), number)
            }
        }
    }
}
