//! Headings and bodies of functions, operations and processes, and initialisations.

use super::Checker;
use super::effects::{AlternativeState, EffectState};
use super::expressions::Context;
use super::facts::{Owner, RoutineId, VariableKind};
use super::types::{TypeId, Types};
use crate::diagnostics::{Code, Diagnostic};
use crate::source::Span;
use crate::tree::{
    Body, Declaration, DeclarationKind, Mode, Parameter, Routine, RoutineKind, StatementKind,
};

impl<'t> Checker<'t> {
    /// Resolves the types of a heading, and declares the parameters.
    pub fn resolve_heading(&mut self, id: RoutineId) {
        let state = &self.routines[id.index()];
        let (syntax, scope, inner) = (state.syntax, state.scope, state.inner);
        if state.resolved {
            return;
        }
        self.routines[id.index()].resolved = true;
        for parameter in &syntax.parameters {
            let kind = VariableKind::Parameter(parameter.mode);
            let ids = self.declare_variables(inner, &parameter.names, &parameter.of, kind);
            let of = ids.first().map_or(Types::UNKNOWN, |id| self.variables[id.index()].of);
            self.routines[id.index()].parameters.extend(ids);
            self.check_mode(syntax, parameter, of);
        }
        if let Some(result) = &syntax.result {
            let (of, _) = self.resolve(scope, result);
            self.routines[id.index()].result = of;
            if self.types.holds_objects(of) {
                self.report_copied(result.span, of);
            }
            if syntax.kind == RoutineKind::Process {
                self.report_process(result.span, "a process returns nothing");
                self.routines[id.index()].result = Types::UNKNOWN;
            }
        }
    }

    fn report_process(&mut self, span: Span, message: &str) {
        let diagnostic = Diagnostic::new(Code::Process, message, span, "nobody waits for this")
            .help("a process has no caller; hand what it found to a shared object");
        self.report(diagnostic);
    }

    fn check_mode(&mut self, routine: &Routine, parameter: &Parameter, of: TypeId) {
        let objects = self.types.holds_objects(of);
        match (parameter.mode, routine.kind) {
            (Mode::Out | Mode::InOut, RoutineKind::Process) => {
                self.report_process(parameter.span, "a process changes no variables of others");
            }
            (Mode::Shared, RoutineKind::Operation) => {
                let message = "an operation has no `shared` parameters";
                let diagnostic =
                    Diagnostic::new(Code::Shared, message, parameter.span, "a second object")
                        .help("an operation works on one object; call one operation after another");
                self.report(diagnostic);
            }
            (Mode::Shared, _) if !objects && of != Types::UNKNOWN => {
                let message = format!("`{}` is no object type, and not shared", self.describe(of));
                let diagnostic =
                    Diagnostic::new(Code::Shared, message, parameter.of.span, "no object type")
                        .help("only objects are shared: declare an `object implementation`");
                self.report(diagnostic);
            }
            (Mode::Shared, _) => {}
            (_, _) if objects => {
                let message = self.not_copied(of);
                let diagnostic =
                    Diagnostic::new(Code::Shared, message, parameter.of.span, "would be a copy")
                        .help("write `shared` before the type");
                self.report(diagnostic);
            }
            _ => {}
        }
    }

    /// Compares the headings in specifications with those of the implementations.
    pub fn compare_headings(&mut self) {
        let mut pairs: Vec<(&'t Routine, RoutineId, super::ScopeId)> = Vec::new();
        for unit in self.objects.iter().chain(&self.modules) {
            let declarations = unit.specification.map_or(&[][..], |unit| &unit.declarations[..]);
            for declaration in declarations {
                let DeclarationKind::Routine(heading) = &declaration.kind else { continue };
                if let Some(super::Entity::Routine(id)) = self.declared.get(&heading.name.span) {
                    pairs.push((heading, *id, unit.outer));
                }
            }
        }
        for (heading, id, outer) in pairs {
            self.compare_heading(heading, id, outer);
        }
    }

    fn compare_heading(&mut self, heading: &'t Routine, id: RoutineId, outer: super::ScopeId) {
        let mut specified = Vec::new();
        for parameter in &heading.parameters {
            let (of, _) = self.resolve(outer, &parameter.of);
            specified.extend(parameter.names.iter().map(|_| (parameter.mode, of)));
        }
        let result = heading.result.as_ref().map(|result| self.resolve(outer, result).0);
        let result = result.unwrap_or(Types::NOTHING);
        let state = &self.routines[id.index()];
        let implemented: Vec<(Mode, TypeId)> = state
            .parameters
            .iter()
            .map(|id| &self.variables[id.index()])
            .map(|variable| match variable.kind {
                VariableKind::Parameter(mode) => (mode, variable.of),
                _ => (Mode::In, variable.of),
            })
            .collect();
        let same = specified.len() == implemented.len()
            && self.agree(result, state.result)
            && specified
                .iter()
                .zip(&implemented)
                .all(|(one, other)| one.0 == other.0 && self.agree(one.1, other.1));
        if !same {
            let name = &heading.name.text;
            let message = format!("`{name}` is specified otherwise than implemented");
            let span = state.syntax.name.span;
            let diagnostic =
                Diagnostic::new(Code::Specification, message, span, "implemented here")
                    .also(heading.name.span, "specified here")
                    .help("give both headings the same modes and types");
            self.report(diagnostic);
        }
    }

    /// Checks all statements.
    pub fn check_bodies(&mut self) {
        for routine in 0..self.routines.len() {
            self.check_body(RoutineId(routine as u32));
        }
        for object in 0..self.objects.len() {
            let unit = &self.objects[object];
            let block = unit.implementation.and_then(|unit| unit.initialisation.as_ref());
            if let Some(block) = block {
                let mut context = Context::outside(unit.inner);
                self.block(&mut context, block);
            }
        }
    }

    fn check_body(&mut self, id: RoutineId) {
        let state = &self.routines[id.index()];
        let (syntax, inner) = (state.syntax, state.inner);
        let Some(body) = &syntax.body else { return };
        self.declare_locals(inner, &body.declarations);
        let mut context = Context::outside(inner);
        context.routine = Some(id);
        match syntax.kind {
            RoutineKind::Operation => self.operation_body(&mut context, id, body),
            _ => self.block(&mut context, &body.block),
        }
        self.check_returns(id, syntax, body);
    }

    fn declare_locals(&mut self, scope: super::ScopeId, declarations: &'t [Declaration]) {
        self.import_all(scope, declarations);
        for declaration in declarations {
            match &declaration.kind {
                DeclarationKind::Constant { name, value } => {
                    self.collect_constant(scope, name, value);
                    let last = self.constants.len() as u32 - 1;
                    self.constant(super::ConstantId(last));
                }
                DeclarationKind::Type { name, definition } => {
                    let id = self.collect_definition(scope, name, definition);
                    self.definition(id);
                }
                DeclarationKind::Variable(variable) => {
                    let kind = VariableKind::Local;
                    self.declare_variables(scope, &variable.names, &variable.of, kind);
                }
                _ => {}
            }
        }
    }

    /// Checks the alternatives of an operation: its guards, or all of its statements.
    fn operation_body(&mut self, context: &mut Context, id: RoutineId, body: &'t Body) {
        context.scope = self.new_scope(context.scope);
        let statements = &body.block.statements;
        let declare = |kind: &StatementKind| matches!(kind, StatementKind::Declare(_));
        let first = statements.iter().position(|statement| !declare(&statement.kind));
        let (declarations, statements) = statements.split_at(first.unwrap_or(statements.len()));
        for statement in declarations {
            self.statement(context, statement);
        }
        let guards = statements
            .iter()
            .take_while(|statement| matches!(statement.kind, StatementKind::Guard(_)))
            .count();
        let (guards, others) = statements.split_at(guards);
        let mut alternatives = Vec::new();
        for guard in guards {
            if let StatementKind::Guard(arm) = &guard.kind {
                alternatives.push(self.alternative(context, arm));
            }
        }
        if let (false, Some(other)) = (guards.is_empty(), others.first()) {
            self.report_behind_guards(other.span);
        }
        for statement in others {
            self.statement(context, statement);
        }
        if guards.is_empty() {
            let effect = std::mem::take(&mut context.effect);
            alternatives.push(AlternativeState { condition: None, effect });
        }
        self.routines[id.index()].alternatives = alternatives;
    }

    fn report_behind_guards(&mut self, span: Span) {
        let message = "nothing follows the guards of an operation";
        let help = "each guard has its own statements, between `do` and `od`: move this there";
        self.report(Diagnostic::new(Code::Guard, message, span, "behind a guard").help(help));
    }

    fn alternative(
        &mut self,
        context: &mut Context,
        arm: &'t crate::tree::Arm,
    ) -> AlternativeState {
        context.effect = EffectState::default();
        self.expect(context, &arm.condition, Types::BOOLEAN);
        if context.effect.writes {
            let message = "a guard changes the object";
            let span = arm.condition.span;
            let diagnostic =
                Diagnostic::new(Code::GuardEffect, message, span, "changes the object")
                    .help("a guard is tried many times; change the object between `do` and `od`");
            self.report(diagnostic);
        }
        let conditions = context.effect.nested.len();
        self.block(context, &arm.body);
        let mut effect = std::mem::take(&mut context.effect);
        effect.in_condition = conditions;
        AlternativeState { condition: Some(arm.condition.clone()), effect }
    }

    /// The process with which a program starts.
    pub fn main(&mut self) -> Option<RoutineId> {
        let processes = (0..self.routines.len()).filter(|place| {
            let routine = &self.routines[*place];
            routine.syntax.name.text == "OrcaMain" && routine.owner == Owner::File
        });
        let all: Vec<RoutineId> = processes.map(|place| RoutineId(place as u32)).collect();
        let (first, others) = all.split_first()?;
        let syntax = self.routines[first.index()].syntax;
        for other in others {
            let span = self.routines[other.index()].syntax.name.span;
            if span.file == syntax.name.span.file {
                continue; // Reported as declared twice.
            }
            let message = "there are two `OrcaMain`";
            let diagnostic = Diagnostic::new(Code::Twice, message, span, "second one here")
                .also(syntax.name.span, "first one here")
                .help("the files named on one command line are one program; check each by itself");
            self.report(diagnostic);
        }
        if syntax.kind != RoutineKind::Process || !syntax.parameters.is_empty() {
            let message = "`OrcaMain` is a process without parameters";
            let diagnostic =
                Diagnostic::new(Code::Process, message, syntax.name.span, "is another")
                    .help("write `process OrcaMain();`: it is what a program starts with");
            self.report(diagnostic);
        }
        Some(*first)
    }
}
