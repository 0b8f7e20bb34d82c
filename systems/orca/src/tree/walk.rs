//! Walks over trees.

use super::StatementKind;
use super::{Block, Declaration, DeclarationKind, Expression, ExpressionKind, Range, Statement};

/// Expressions that are parts of an expression.
pub fn parts(expression: &Expression) -> Vec<&Expression> {
    match &expression.kind {
        ExpressionKind::Field { of, .. } => vec![of],
        ExpressionKind::Index { of, indices } => [&**of].into_iter().chain(indices).collect(),
        ExpressionKind::Call { arguments, .. } => arguments.iter().collect(),
        ExpressionKind::Operation { object, arguments, .. } => {
            [&**object].into_iter().chain(arguments).collect()
        }
        ExpressionKind::Unary { operand, .. } => vec![operand],
        ExpressionKind::Binary { left, right, .. } => vec![left, right],
        ExpressionKind::Aggregate { elements, .. } => elements.iter().collect(),
        ExpressionKind::Parenthesised(inner) => vec![inner],
        _ => Vec::new(),
    }
}

/// Expressions that stand in a statement, but for those in blocks within it.
pub fn expressions(statement: &Statement) -> Vec<&Expression> {
    match &statement.kind {
        StatementKind::Assign { target, value, .. } => vec![target, value],
        StatementKind::Call(called) => vec![called],
        StatementKind::If { arms, .. } => arms.iter().map(|arm| &arm.condition).collect(),
        StatementKind::While { arm } | StatementKind::Guard(arm) => vec![&arm.condition],
        StatementKind::Repeat { until, .. } => vec![until],
        StatementKind::For { range: Range::Bounds(first, last), .. } => vec![first, last],
        StatementKind::For { range: Range::Elements(elements), .. } => vec![elements],
        StatementKind::Case { subject, .. } => vec![subject],
        StatementKind::Return(value) => value.iter().collect(),
        StatementKind::Fork { arguments, on, .. } => arguments.iter().chain(on).collect(),
        _ => Vec::new(),
    }
}

/// Blocks within a statement.
pub fn blocks(statement: &Statement) -> Vec<&Block> {
    match &statement.kind {
        StatementKind::If { arms, otherwise } => {
            arms.iter().map(|arm| &arm.body).chain(otherwise).collect()
        }
        StatementKind::While { arm } | StatementKind::Guard(arm) => vec![&arm.body],
        StatementKind::Repeat { body, .. } | StatementKind::For { body, .. } => vec![body],
        StatementKind::Loop(body) | StatementKind::Block(body) => vec![body],
        StatementKind::Case { alternatives, otherwise, .. } => {
            alternatives.iter().map(|one| &one.body).chain(otherwise).collect()
        }
        _ => Vec::new(),
    }
}

/// Hands every statement of a block to `visit`, those within others too.
pub fn each_statement<'t>(block: &'t Block, visit: &mut dyn FnMut(&'t Statement)) {
    for statement in &block.statements {
        visit(statement);
        for inner in blocks(statement) {
            each_statement(inner, visit);
        }
    }
}

/// Hands every expression within this one to `visit`, itself first.
pub fn each_expression<'t>(expression: &'t Expression, visit: &mut dyn FnMut(&'t Expression)) {
    visit(expression);
    for part in parts(expression) {
        each_expression(part, visit);
    }
}

/// Hands the block of every routine and initialisation to `visit`.
pub fn each_block<'t>(declarations: &'t [Declaration], visit: &mut dyn FnMut(&'t Block)) {
    for declaration in declarations {
        match &declaration.kind {
            DeclarationKind::Routine(routine) => {
                routine.body.iter().for_each(|body| visit(&body.block));
            }
            DeclarationKind::Object(unit) | DeclarationKind::Module(unit) => {
                each_block(&unit.declarations, visit);
                unit.initialisation.iter().for_each(&mut *visit);
            }
            _ => {}
        }
    }
}
