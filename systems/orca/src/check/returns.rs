//! Routines that return a value, and always must.

use super::facts::RoutineId;
use super::statements::Statements;
use super::types::Types;
use crate::diagnostics::{Code, Diagnostic};
use crate::tree::{Block, Body, Routine, RoutineKind, Statement, StatementKind};

impl<'t> Statements<'_, 't> {
    /// Reports a routine whose end can be reached although it returns a value.
    pub fn check_returns(&mut self, id: RoutineId, syntax: &Routine, body: &Body) {
        let result = self.expressions.symbols.routines[id.index()].result;
        let process = syntax.kind == RoutineKind::Process;
        if matches!(result, Types::NOTHING | Types::UNKNOWN) || process || returns(&body.block) {
            return;
        }
        let (word, name) = (syntax.kind.word(), &syntax.name.text);
        let message = format!("{word} `{name}` may end without a value");
        let label = format!("returns {}", self.expressions.symbols.describe(result));
        let diagnostic = Diagnostic::new(Code::Return, message, syntax.name.span, label)
            .help("let every way through it end with `return ...;`");
        self.expressions.symbols.report(diagnostic);
    }
}

/// True if the end of a block is never reached.
fn returns(block: &Block) -> bool {
    let guards = |statement: &Statement| matches!(statement.kind, StatementKind::Guard(_));
    let mut alternatives = block.statements.iter().filter(|statement| guards(statement)).peekable();
    if alternatives.peek().is_some() {
        return alternatives.all(ends);
    }
    block.statements.iter().any(ends)
}

fn ends(statement: &Statement) -> bool {
    match &statement.kind {
        StatementKind::Return(_) | StatementKind::Malformed | StatementKind::Placeholder => true,
        StatementKind::If { arms, otherwise } => {
            otherwise.as_ref().is_some_and(returns) && arms.iter().all(|arm| returns(&arm.body))
        }
        // That none of the choices is taken is an error when the program runs.
        StatementKind::Case { alternatives, otherwise, .. } => {
            otherwise.as_ref().is_none_or(returns)
                && alternatives.iter().all(|alternative| returns(&alternative.body))
        }
        StatementKind::Loop(body) => !exits(body),
        StatementKind::Guard(arm) => returns(&arm.body),
        StatementKind::Block(block) => returns(block),
        _ => false,
    }
}

/// True if a block has an `exit` for the loop around it.
fn exits(block: &Block) -> bool {
    block.statements.iter().any(|statement| match &statement.kind {
        StatementKind::Exit => true,
        StatementKind::If { arms, otherwise } => {
            otherwise.as_ref().is_some_and(exits) || arms.iter().any(|arm| exits(&arm.body))
        }
        StatementKind::Case { alternatives, otherwise, .. } => {
            otherwise.as_ref().is_some_and(exits)
                || alternatives.iter().any(|alternative| exits(&alternative.body))
        }
        StatementKind::Block(block) => exits(block),
        _ => false,
    })
}
