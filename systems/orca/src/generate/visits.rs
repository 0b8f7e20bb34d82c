//! Walks over expressions and statements: what they call, and what they change.

use super::Generator;
use crate::check::{Builtin, Entity, RoutineId, Shape, VariableId, VariableKind};
use crate::tree::walk::{each_expression, each_statement, expressions, parts};
use crate::tree::{Expression, ExpressionKind, Mode};

impl Generator<'_> {
    /// True if an expression calls something that may change or see what others do.
    pub fn calls(&self, expression: &Expression) -> bool {
        let own = match &expression.kind {
            ExpressionKind::Operation { .. } => true,
            ExpressionKind::Call { callee, .. } => match self.facts.meanings.get(&callee.id) {
                Some(Entity::Builtin(builtin)) => {
                    matches!(builtin, Builtin::AddNode | Builtin::From)
                }
                _ => true,
            },
            _ => false,
        };
        own || parts(expression).into_iter().any(|part| self.calls(part))
    }

    /// The variable of which an expression is a part.
    pub fn root(&self, expression: &Expression) -> Option<VariableId> {
        match &expression.kind {
            ExpressionKind::Field { of, .. } | ExpressionKind::Index { of, .. } => self.root(of),
            ExpressionKind::Parenthesised(inner) => self.root(inner),
            ExpressionKind::Name(_) => match self.facts.meanings.get(&expression.id) {
                Some(Entity::Variable(id)) => Some(*id),
                _ => None,
            },
            _ => None,
        }
    }

    /// Parameters of what an expression calls, with their arguments.
    pub fn passed<'t>(&self, expression: &'t Expression) -> Vec<(VariableId, &'t Expression)> {
        let (id, arguments) = match &expression.kind {
            ExpressionKind::Call { callee, arguments } => (callee.id, arguments),
            ExpressionKind::Operation { arguments, .. } => (expression.id, arguments),
            _ => return Vec::new(),
        };
        match self.facts.meanings.get(&id) {
            Some(Entity::Routine(routine)) => {
                let parameters = &self.facts.routine(*routine).parameters;
                parameters.iter().copied().zip(arguments).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Mode of a parameter.
    pub fn mode(&self, parameter: VariableId) -> Mode {
        match self.facts.variable(parameter).kind {
            VariableKind::Parameter(mode) => mode,
            _ => Mode::In,
        }
    }

    /// Places that an expression hands to something that may change them.
    pub fn changed_by<'t>(&self, expression: &'t Expression) -> Vec<&'t Expression> {
        let mut changed = Vec::new();
        each_expression(expression, &mut |part| {
            for (parameter, argument) in self.passed(part) {
                if matches!(self.mode(parameter), Mode::Out | Mode::InOut) {
                    changed.push(argument);
                }
            }
            if let ExpressionKind::Call { callee, arguments } = &part.kind
                && let Some(Entity::Builtin(builtin)) = self.facts.meanings.get(&callee.id)
            {
                changed.extend(match builtin {
                    Builtin::Insert | Builtin::Delete => arguments.get(1),
                    Builtin::From | Builtin::AddNode | Builtin::DeleteNode => arguments.first(),
                    _ => None,
                });
            }
        });
        changed
    }

    /// True if a routine, or one that it calls, writes to the standard output or asks on which
    /// processor it runs: copies of an object would differ in that.
    pub fn is_impure(&self, routine: RoutineId, seen: &mut Vec<RoutineId>) -> bool {
        if seen.contains(&routine) {
            return false;
        }
        seen.push(routine);
        let Some(body) = self.routines.get(&routine).and_then(|routine| routine.body.as_ref())
        else {
            return false;
        };
        let mut impure = false;
        each_statement(&body.block, &mut |statement| {
            for expression in expressions(statement) {
                each_expression(expression, &mut |part| {
                    let meaning = match &part.kind {
                        ExpressionKind::Call { callee, .. } => &callee.id,
                        _ => &part.id,
                    };
                    impure |= match self.facts.meanings.get(meaning) {
                        Some(Entity::Builtin(builtin)) => {
                            matches!(builtin, Builtin::Write | Builtin::WriteLine | Builtin::MyCpu)
                        }
                        Some(Entity::Routine(called)) => self.is_impure(*called, seen),
                        _ => false,
                    };
                });
            }
        });
        impure
    }
}

/// Expressions of the bounds with which a variable begins.
pub fn bounds(shape: &Shape) -> Vec<&Expression> {
    match shape {
        Shape::Plain => Vec::new(),
        Shape::Array { bounds: own, of } => {
            own.iter().flat_map(|(first, last)| [first, last]).chain(bounds(of)).collect()
        }
    }
}
