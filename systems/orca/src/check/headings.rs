//! Headings of functions, operations and processes.

use super::facts::{Entity, RoutineId, VariableKind};
use super::resolve::Resolver;
use super::scopes::ScopeId;
use super::types::{TypeId, Types};
use crate::diagnostics::{Code, Diagnostic};
use crate::source::Span;
use crate::tree::{DeclarationKind, Mode, Parameter, Routine, RoutineKind};

impl<'t> Resolver<'_, 't> {
    /// Resolves the types of a heading, and declares the parameters.
    pub fn resolve_heading(&mut self, id: RoutineId) {
        let state = &self.symbols.routines[id.index()];
        let (syntax, scope, inner) = (state.syntax, state.scope, state.inner);
        if state.resolved {
            return;
        }
        self.symbols.routines[id.index()].resolved = true;
        for parameter in &syntax.parameters {
            let kind = VariableKind::Parameter(parameter.mode);
            let ids = self.declare_variables(inner, &parameter.names, &parameter.of, kind);
            let of = ids.first().map_or(Types::UNKNOWN, |id| self.symbols.variables[id.index()].of);
            self.symbols.routines[id.index()].parameters.extend(ids);
            self.check_mode(syntax, parameter, of);
        }
        if let Some(result) = &syntax.result {
            let (of, _) = self.resolve(scope, result);
            self.symbols.routines[id.index()].result = of;
            if self.symbols.types.holds_objects(of) {
                self.symbols.report_copied(result.span, of);
            }
            if syntax.kind == RoutineKind::Process {
                self.report_process(result.span, "a process returns nothing");
                self.symbols.routines[id.index()].result = Types::UNKNOWN;
            }
        }
    }

    fn report_process(&mut self, span: Span, message: &str) {
        let diagnostic = Diagnostic::new(Code::Process, message, span, "nobody waits for this")
            .help("a process has no caller; hand what it found to a shared object");
        self.symbols.report(diagnostic);
    }

    fn check_mode(&mut self, routine: &Routine, parameter: &Parameter, of: TypeId) {
        let objects = self.symbols.types.holds_objects(of);
        match (parameter.mode, routine.kind) {
            (Mode::Out | Mode::InOut, RoutineKind::Process) => {
                self.report_process(parameter.span, "a process changes no variables of others");
            }
            (Mode::Shared, RoutineKind::Operation) => {
                let message = "an operation has no `shared` parameters";
                let diagnostic =
                    Diagnostic::new(Code::Shared, message, parameter.span, "a second object")
                        .help("an operation works on one object; call one operation after another");
                self.symbols.report(diagnostic);
            }
            (Mode::Shared, _) if !objects && of != Types::UNKNOWN => {
                let message =
                    format!("`{}` is no object type, and not shared", self.symbols.describe(of));
                let diagnostic =
                    Diagnostic::new(Code::Shared, message, parameter.of.span, "no object type")
                        .help("only objects are shared: declare an `object implementation`");
                self.symbols.report(diagnostic);
            }
            (Mode::Shared, _) => {}
            (_, _) if objects => {
                let message = self.symbols.not_copied(of);
                let diagnostic =
                    Diagnostic::new(Code::Shared, message, parameter.of.span, "would be a copy")
                        .help("write `shared` before the type");
                self.symbols.report(diagnostic);
            }
            _ => {}
        }
    }

    /// Compares the headings in specifications with those of the implementations.
    pub fn compare_headings(&mut self) {
        let mut pairs: Vec<(&'t Routine, RoutineId, ScopeId)> = Vec::new();
        for unit in self.symbols.objects.iter().chain(&self.symbols.modules) {
            let declarations = unit.specification.map_or(&[][..], |unit| &unit.declarations[..]);
            for declaration in declarations {
                let DeclarationKind::Routine(heading) = &declaration.kind else { continue };
                if let Some(Entity::Routine(id)) = self.symbols.declared.get(&heading.name.span) {
                    pairs.push((heading, *id, unit.outer));
                }
            }
        }
        for (heading, id, outer) in pairs {
            self.compare_heading(heading, id, outer);
        }
    }

    fn compare_heading(&mut self, heading: &'t Routine, id: RoutineId, outer: ScopeId) {
        let mut specified = Vec::new();
        for parameter in &heading.parameters {
            let (of, _) = self.resolve(outer, &parameter.of);
            specified.extend(parameter.names.iter().map(|_| (parameter.mode, of)));
        }
        let result = heading.result.as_ref().map(|result| self.resolve(outer, result).0);
        let result = result.unwrap_or(Types::NOTHING);
        let state = &self.symbols.routines[id.index()];
        let implemented: Vec<(Mode, TypeId)> = state
            .parameters
            .iter()
            .map(|id| &self.symbols.variables[id.index()])
            .map(|variable| match variable.kind {
                VariableKind::Parameter(mode) => (mode, variable.of),
                _ => (Mode::In, variable.of),
            })
            .collect();
        let same = specified.len() == implemented.len()
            && self.symbols.types.agree(result, state.result)
            && specified
                .iter()
                .zip(&implemented)
                .all(|(one, other)| one.0 == other.0 && self.symbols.types.agree(one.1, other.1));
        if !same {
            let name = &heading.name.text;
            let message = format!("`{name}` is specified otherwise than implemented");
            let span = state.syntax.name.span;
            let diagnostic =
                Diagnostic::new(Code::Specification, message, span, "implemented here")
                    .also(heading.name.span, "specified here")
                    .help("give both headings the same modes and types");
            self.symbols.report(diagnostic);
        }
    }
}
