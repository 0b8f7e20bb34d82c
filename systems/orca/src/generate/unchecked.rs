//! Loops whose indices are checked once. An element `a[v + c]`, where `v` is what a loop counts and
//! nothing in the loop changes `a`'s bounds, has its indices compared with these before the loop.
//! If all are inside, a loop without checks runs; otherwise one with checks, which fails at the
//! place where the program would. Only loops without loops in them are made twice.

use super::code::Code;
use super::values::address;
use crate::check::{Entity, Type, VariableId, VariableKind};
use crate::tree::walk::{each_expression, each_statement, expressions};
use crate::tree::{BinaryOperator, Block, Expression, ExpressionKind, Mode, Range, StatementKind};

/// An element whose indices were checked before the loop.
#[derive(Clone, Debug)]
pub struct Access {
    /// Pointer to the element of the first pass.
    pointer: String,
    /// Number of passes so far, and of elements for each.
    passes: Option<(String, String)>,
}

impl Access {
    /// The element, as a place of C's.
    pub fn element(&self) -> String {
        match &self.passes {
            Some((passes, stride)) => format!("{}[({passes}) * {stride}]", self.pointer),
            None => format!("(*{})", self.pointer),
        }
    }
}

/// An index: what is counted and a number, or a number alone.
struct Index<'t> {
    counts: bool,
    number: Option<(BinaryOperator, &'t Expression)>,
}

/// Elements that can be checked before a loop.
pub struct Hoistable<'t> {
    element: &'t Expression,
    array: &'t Expression,
    indices: Vec<Index<'t>>,
}

impl Code<'_, '_> {
    /// Elements in the body of a loop that can be checked before it.
    pub fn hoistable<'t>(&self, counted: VariableId, body: &'t Block) -> Vec<Hoistable<'t>> {
        let mut loops = false;
        let mut found = Vec::new();
        each_statement(body, &mut |statement| {
            loops |= matches!(
                statement.kind,
                StatementKind::For { .. }
                    | StatementKind::While { .. }
                    | StatementKind::Repeat { .. }
                    | StatementKind::Loop(_)
            );
            for expression in expressions(statement) {
                each_expression(expression, &mut |part| {
                    found.extend(self.hoistable_element(counted, part, body));
                });
            }
        });
        if loops { Vec::new() } else { found }
    }

    fn hoistable_element<'t>(
        &self,
        counted: VariableId,
        element: &'t Expression,
        body: &Block,
    ) -> Option<Hoistable<'t>> {
        let ExpressionKind::Index { of: array, indices } = &element.kind else { return None };
        let of = self.generator.facts.type_of(array);
        if !matches!(self.generator.facts.types.get(of), Type::Array { .. }) {
            return None;
        }
        if !self.is_plain(array) || !self.keeps_bounds(array, body) {
            return None;
        }
        let indices: Option<Vec<Index<'_>>> =
            indices.iter().map(|index| self.affine(counted, index, body)).collect();
        let indices = indices?;
        let counting = indices.iter().filter(|index| index.counts).count();
        (counting <= 1).then_some(Hoistable { element, array, indices })
    }

    /// True for variables and fields of records, which are looked up without a check.
    fn is_plain(&self, array: &Expression) -> bool {
        match &array.bare().kind {
            ExpressionKind::Name(_) => self.generator.root(array).is_some(),
            ExpressionKind::Field { of, .. } => {
                let whole = self.generator.facts.types.get(self.generator.facts.type_of(of));
                matches!(whole, Type::Record { .. }) && self.is_plain(of)
            }
            _ => false,
        }
    }

    /// True if nothing in a block may change the bounds of an array: only what is deeper in it.
    fn keeps_bounds(&self, array: &Expression, body: &Block) -> bool {
        let root = self.generator.root(array);
        let depth = depth(array);
        let mut keeps = root.is_some_and(|root| !self.is_declared_in(root, body));
        self.each_change(body, &mut |target| {
            keeps &= self.generator.root(target) != root || self::depth(target) > depth;
        });
        keeps
    }

    /// Hands each place that a block changes to `visit`.
    fn each_change(&self, body: &Block, visit: &mut dyn FnMut(&Expression)) {
        each_statement(body, &mut |statement| {
            if let StatementKind::Assign { target, .. } = &statement.kind {
                visit(target);
            }
            for expression in expressions(statement) {
                self.generator.changed_by(expression).into_iter().for_each(&mut *visit);
            }
        });
    }

    fn is_declared_in(&self, variable: VariableId, body: &Block) -> bool {
        let span = self.generator.facts.variable(variable).span;
        let mut declared = false;
        each_statement(body, &mut |statement| match &statement.kind {
            StatementKind::Declare(all) => {
                declared |= all.names.iter().any(|name| name.span == span);
            }
            StatementKind::For {
                variable, range: Range::Bounds(..) | Range::Elements(_), ..
            } => {
                declared |= variable.span == span;
            }
            _ => {}
        });
        declared
    }

    /// The parts of an index, if it is `v`, `v + c`, `v - c` or `c`.
    fn affine<'t>(
        &self,
        counted: VariableId,
        index: &'t Expression,
        body: &Block,
    ) -> Option<Index<'t>> {
        let counts =
            |side: &Expression| self.generator.root(side) == Some(counted) && depth(side) == 0;
        let index = index.bare();
        if counts(index) {
            return Some(Index { counts: true, number: None });
        }
        if let ExpressionKind::Binary { operator, left, right } = &index.kind
            && matches!(operator, BinaryOperator::Add | BinaryOperator::Subtract)
            && counts(left)
            && self.is_invariant(counted, right, body)
        {
            return Some(Index { counts: true, number: Some((*operator, right)) });
        }
        self.is_invariant(counted, index, body)
            .then_some(Index { counts: false, number: Some((BinaryOperator::Add, index)) })
    }

    /// True for numbers that are the same in each pass, and are computed without a check.
    fn is_invariant(&self, counted: VariableId, number: &Expression, body: &Block) -> bool {
        match &number.bare().kind {
            ExpressionKind::Integer(_) => true,
            ExpressionKind::Binary { operator, left, right } => {
                use BinaryOperator::{Add, Multiply, Subtract};
                matches!(operator, Add | Subtract | Multiply)
                    && self.is_invariant(counted, left, body)
                    && self.is_invariant(counted, right, body)
            }
            ExpressionKind::Name(_) => match self.generator.facts.meanings.get(&number.bare().id) {
                Some(Entity::Constant(_) | Entity::Value { .. }) => true,
                Some(Entity::Variable(id)) if *id != counted => {
                    let kind = self.generator.facts.variable(*id).kind;
                    let own = matches!(
                        kind,
                        VariableKind::Local
                            | VariableKind::Loop
                            | VariableKind::Parameter(Mode::In)
                    );
                    let mut same = own && !self.is_declared_in(*id, body);
                    self.each_change(body, &mut |target| {
                        same &= self.generator.root(target) != Some(*id);
                    });
                    same
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// The checks, and both loops.
    pub fn count_twice(
        &mut self,
        id: VariableId,
        (first, last): (&str, &str),
        body: &Block,
        accesses: Vec<Hoistable<'_>>,
    ) {
        let inside = format!("inside{}", self.number());
        self.line(&format!("bool {inside} = {first} <= {last};"));
        let mut all = Vec::new();
        for access in accesses {
            let made = self.access(id, (first, last), &inside, &access);
            all.push((access.element.id, made));
        }
        self.unchecked.extend(all.iter().cloned());
        self.open(&format!("if ({inside}) {{"));
        self.count_body(id, (first, last), body);
        self.close("} else {");
        for (element, _) in &all {
            self.unchecked.remove(element);
        }
        self.open_only();
        self.count_body(id, (first, last), body);
        self.close("}");
    }

    /// Checks the indices of an element in all passes, and finds that of the first.
    fn access(
        &mut self,
        id: VariableId,
        (first, last): (&str, &str),
        inside: &str,
        access: &Hoistable<'_>,
    ) -> Access {
        let of = self.of(access.array);
        let name = self.generator.type_name(of);
        let element = self.generator.type_name(self.of(access.element));
        let number = self.number();
        let (array, pointer) = (format!("array{number}"), format!("element{number}"));
        let place = self.lvalue(access.array);
        self.line(&format!("const {name} *{array} = {};", address(&place)));
        let mut offset = String::from("0");
        let mut stride = None;
        for (d, index) in access.indices.iter().enumerate() {
            let (from, to) = self.range(index, (first, last));
            let (lower, count) = (format!("{array}->lower[{d}]"), format!("{array}->count[{d}]"));
            self.line(&format!(
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
        self.line(&format!("{element} *{pointer} = {inside} ? {array}->at + ({offset}) : NULL;"));
        let passes = stride.map(|stride| {
            let step = format!("stride{number}");
            if stride == "1" {
                return stride;
            }
            self.line(&format!("const int64_t {step} = {stride};"));
            step
        });
        let counted = self.generator.variable_name(id);
        let passes = passes.map(|stride| (format!("(int64_t){counted} - {first}"), stride));
        Access { pointer, passes }
    }

    /// First and last value of an index.
    fn range(&mut self, index: &Index<'_>, (first, last): (&str, &str)) -> (String, String) {
        let number = index.number.as_ref().map(|(operator, number)| {
            let text = self.flat(number);
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

/// Number of steps from a variable to a part of it.
fn depth(expression: &Expression) -> usize {
    match &expression.kind {
        ExpressionKind::Field { of, .. } | ExpressionKind::Index { of, .. } => depth(of) + 1,
        ExpressionKind::Parenthesised(inner) => depth(inner),
        _ => 0,
    }
}
