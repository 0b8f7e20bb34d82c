//! Headings and bodies of functions, operations and processes, and initialisations.

use super::expressions::Expressions;
use super::facts::{ConstantId, Owner, RoutineId, VariableKind};
use super::scopes::ScopeId;
use super::statements::Statements;
use super::symbols::Symbols;
use super::types::Types;
use super::uses::{AlternativeState, EffectState};
use crate::diagnostics::{Code, Diagnostic};
use crate::source::Span;
use crate::tree::{Arm, Body, Declaration, DeclarationKind, RoutineKind, StatementKind};

/// Checks all statements.
pub fn check_bodies(symbols: &mut Symbols<'_>) {
    for routine in 0..symbols.routines.len() {
        check_body(symbols, RoutineId(routine as u32));
    }
    for object in 0..symbols.objects.len() {
        let unit = &symbols.objects[object];
        let (scope, unit) = (unit.inner, unit.implementation);
        if let Some(block) = unit.and_then(|unit| unit.initialisation.as_ref()) {
            Statements { expressions: Expressions::outside(symbols, scope) }.block(block);
        }
    }
}

fn check_body(symbols: &mut Symbols<'_>, id: RoutineId) {
    let state = &symbols.routines[id.index()];
    let (syntax, inner) = (state.syntax, state.inner);
    let Some(body) = &syntax.body else { return };
    let expressions = Expressions { routine: Some(id), ..Expressions::outside(symbols, inner) };
    let mut statements = Statements { expressions };
    statements.declare_locals(inner, &body.declarations);
    match syntax.kind {
        RoutineKind::Operation => statements.operation_body(id, body),
        _ => statements.block(&body.block),
    }
    statements.check_returns(id, syntax, body);
}

impl<'t> Statements<'_, 't> {
    fn declare_locals(&mut self, scope: ScopeId, declarations: &'t [Declaration]) {
        self.expressions.symbols.import_all(scope, declarations);
        for declaration in declarations {
            match &declaration.kind {
                DeclarationKind::Constant { name, value } => {
                    self.expressions.symbols.collect_constant(scope, name, value);
                    let last = self.expressions.symbols.constants.len() as u32 - 1;
                    self.expressions.resolver().constant(ConstantId(last));
                }
                DeclarationKind::Type { name, definition } => {
                    let id = self.expressions.symbols.collect_definition(scope, name, definition);
                    self.expressions.resolver().definition(id);
                }
                DeclarationKind::Variable(variable) => {
                    let kind = VariableKind::Local;
                    self.expressions.resolver().declare_variables(
                        scope,
                        &variable.names,
                        &variable.of,
                        kind,
                    );
                }
                _ => {}
            }
        }
    }

    /// Checks the alternatives of an operation: its guards, or all of its statements.
    fn operation_body(&mut self, id: RoutineId, body: &'t Body) {
        self.expressions.scope = self.expressions.symbols.new_scope(self.expressions.scope);
        let statements = &body.block.statements;
        let declare = |kind: &StatementKind| matches!(kind, StatementKind::Declare(_));
        let first = statements.iter().position(|statement| !declare(&statement.kind));
        let (declarations, statements) = statements.split_at(first.unwrap_or(statements.len()));
        for statement in declarations {
            self.statement(statement);
        }
        let guards = statements
            .iter()
            .take_while(|statement| matches!(statement.kind, StatementKind::Guard(_)))
            .count();
        let (guards, others) = statements.split_at(guards);
        let mut alternatives = Vec::new();
        for guard in guards {
            if let StatementKind::Guard(arm) = &guard.kind {
                alternatives.push(self.alternative(arm));
            }
        }
        if let (false, Some(other)) = (guards.is_empty(), others.first()) {
            self.report_behind_guards(other.span);
        }
        for statement in others {
            self.statement(statement);
        }
        if guards.is_empty() {
            let effect = std::mem::take(&mut self.expressions.effect);
            alternatives.push(AlternativeState { condition: None, effect });
        }
        self.expressions.symbols.routines[id.index()].alternatives = alternatives;
    }

    fn report_behind_guards(&mut self, span: Span) {
        let message = "nothing follows the guards of an operation";
        let help = "each guard has its own statements, between `do` and `od`: move this there";
        self.expressions
            .symbols
            .report(Diagnostic::new(Code::Guard, message, span, "behind a guard").help(help));
    }

    fn alternative(&mut self, arm: &'t Arm) -> AlternativeState {
        self.expressions.effect = EffectState::default();
        self.expressions.expect(&arm.condition, Types::BOOLEAN);
        if self.expressions.effect.writes {
            let message = "a guard changes the object";
            let span = arm.condition.span;
            let diagnostic =
                Diagnostic::new(Code::GuardEffect, message, span, "changes the object")
                    .help("a guard is tried many times; change the object between `do` and `od`");
            self.expressions.symbols.report(diagnostic);
        }
        let conditions = self.expressions.effect.nested.len();
        self.block(&arm.body);
        let mut effect = std::mem::take(&mut self.expressions.effect);
        effect.in_condition = conditions;
        AlternativeState { condition: Some(arm.condition.clone()), effect }
    }
}

/// The process with which a program starts.
pub fn main(symbols: &mut Symbols<'_>) -> Option<RoutineId> {
    let processes = (0..symbols.routines.len()).filter(|place| {
        let routine = &symbols.routines[*place];
        routine.syntax.name.text == "OrcaMain" && routine.owner == Owner::File
    });
    let all: Vec<RoutineId> = processes.map(|place| RoutineId(place as u32)).collect();
    let (first, others) = all.split_first()?;
    let syntax = symbols.routines[first.index()].syntax;
    for other in others {
        let span = symbols.routines[other.index()].syntax.name.span;
        if span.file == syntax.name.span.file {
            continue; // Reported as declared twice.
        }
        let message = "there are two `OrcaMain`";
        let diagnostic = Diagnostic::new(Code::Twice, message, span, "second one here")
            .also(syntax.name.span, "first one here")
            .help("the files named on one command line are one program; check each by itself");
        symbols.report(diagnostic);
    }
    if syntax.kind != RoutineKind::Process || !syntax.parameters.is_empty() {
        let message = "`OrcaMain` is a process without parameters";
        let diagnostic = Diagnostic::new(Code::Process, message, syntax.name.span, "is another")
            .help("write `process OrcaMain();`: it is what a program starts with");
        symbols.report(diagnostic);
    }
    Some(*first)
}
