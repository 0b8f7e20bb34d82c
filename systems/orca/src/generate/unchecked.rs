//! Loops whose indices are checked once. An element `a[v + c]`, where `v` is what a loop counts and
//! nothing in the loop changes `a`'s bounds, has its indices compared with these before the loop.
//! If all are inside, a loop without checks runs; otherwise one with checks, which fails at the
//! place where the program would. Only loops without loops in them are made twice.

use super::Generator;
use crate::check::{Entity, Type, VariableId, VariableKind};
use crate::tree::walk::{each_expression, each_statement, expressions};
use crate::tree::{BinaryOperator, Block, Expression, ExpressionKind, Mode, Range, StatementKind};

/// An element whose indices were checked before the loop.
#[derive(Clone, Debug)]
pub struct Access {
    /// Pointer to the element of the first pass.
    pub pointer: String,
    /// Number of passes so far, and of elements for each.
    pub passes: Option<(String, String)>,
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
pub struct Index<'t> {
    pub counts: bool,
    pub number: Option<(BinaryOperator, &'t Expression)>,
}

/// Elements that can be checked before a loop.
pub struct Hoistable<'t> {
    pub element: &'t Expression,
    pub array: &'t Expression,
    pub indices: Vec<Index<'t>>,
}

/// A loop that counts.
pub struct CountedLoop<'g, 'p, 't> {
    pub generator: &'g Generator<'p>,
    /// The variable that counts.
    pub counted: VariableId,
    pub body: &'t Block,
}

impl<'t> CountedLoop<'_, '_, 't> {
    /// Elements in the body that can be checked before it.
    pub fn hoistable(&self) -> Vec<Hoistable<'t>> {
        let mut loops = false;
        let mut found = Vec::new();
        each_statement(self.body, &mut |statement| {
            loops |= matches!(
                statement.kind,
                StatementKind::For { .. }
                    | StatementKind::While { .. }
                    | StatementKind::Repeat { .. }
                    | StatementKind::Loop(_)
            );
            for expression in expressions(statement) {
                each_expression(expression, &mut |part| {
                    found.extend(self.hoistable_element(part));
                });
            }
        });
        if loops { Vec::new() } else { found }
    }

    fn hoistable_element(&self, element: &'t Expression) -> Option<Hoistable<'t>> {
        let ExpressionKind::Index { of: array, indices } = &element.kind else { return None };
        let of = self.generator.facts.type_of(array);
        if !matches!(self.generator.facts.types.get(of), Type::Array { .. }) {
            return None;
        }
        if !self.is_plain(array) || !self.keeps_bounds(array) {
            return None;
        }
        let indices: Option<Vec<Index<'_>>> =
            indices.iter().map(|index| self.affine(index)).collect();
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

    /// True if nothing in the body may change the bounds of an array: only what is deeper in it.
    fn keeps_bounds(&self, array: &Expression) -> bool {
        let root = self.generator.root(array);
        let depth = depth(array);
        let mut keeps = root.is_some_and(|root| !self.is_declared(root));
        self.each_change(&mut |target| {
            keeps &= self.generator.root(target) != root || self::depth(target) > depth;
        });
        keeps
    }

    /// Hands each place that the body changes to `visit`.
    fn each_change(&self, visit: &mut dyn FnMut(&Expression)) {
        each_statement(self.body, &mut |statement| {
            if let StatementKind::Assign { target, .. } = &statement.kind {
                visit(target);
            }
            for expression in expressions(statement) {
                self.generator.changed_by(expression).into_iter().for_each(&mut *visit);
            }
        });
    }

    fn is_declared(&self, variable: VariableId) -> bool {
        let span = self.generator.facts.variable(variable).span;
        let mut declared = false;
        each_statement(self.body, &mut |statement| match &statement.kind {
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
    fn affine(&self, index: &'t Expression) -> Option<Index<'t>> {
        let counts =
            |side: &Expression| self.generator.root(side) == Some(self.counted) && depth(side) == 0;
        let index = index.bare();
        if counts(index) {
            return Some(Index { counts: true, number: None });
        }
        if let ExpressionKind::Binary { operator, left, right } = &index.kind
            && matches!(operator, BinaryOperator::Add | BinaryOperator::Subtract)
            && counts(left)
            && self.is_invariant(right)
        {
            return Some(Index { counts: true, number: Some((*operator, right)) });
        }
        self.is_invariant(index)
            .then_some(Index { counts: false, number: Some((BinaryOperator::Add, index)) })
    }

    /// True for numbers that are the same in each pass, and are computed without a check.
    fn is_invariant(&self, number: &Expression) -> bool {
        match &number.bare().kind {
            ExpressionKind::Integer(_) => true,
            ExpressionKind::Binary { operator, left, right } => {
                use BinaryOperator::{Add, Multiply, Subtract};
                matches!(operator, Add | Subtract | Multiply)
                    && self.is_invariant(left)
                    && self.is_invariant(right)
            }
            ExpressionKind::Name(_) => match self.generator.facts.meanings.get(&number.bare().id) {
                Some(Entity::Constant(_) | Entity::Value { .. }) => true,
                Some(Entity::Variable(id)) if *id != self.counted => {
                    let kind = self.generator.facts.variable(*id).kind;
                    let own = matches!(
                        kind,
                        VariableKind::Local
                            | VariableKind::Loop
                            | VariableKind::Parameter(Mode::In)
                    );
                    let mut same = own && !self.is_declared(*id);
                    self.each_change(&mut |target| {
                        same &= self.generator.root(target) != Some(*id);
                    });
                    same
                }
                _ => false,
            },
            _ => false,
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
