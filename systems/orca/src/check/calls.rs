//! Calls of functions and operations, and forks.

use super::Checker;
use super::expressions::Context;
use super::facts::{Entity, Owner, RoutineId};
use super::scopes::Meaning;
use super::types::{Type, TypeId, Types};
use crate::diagnostics::{Code, Diagnostic};
use crate::source::Span;
use crate::tree::{Expression, ExpressionKind, Mode, Name, RoutineKind};

impl<'t> Checker<'t> {
    /// The type of what a function returns.
    pub fn call(
        &mut self,
        context: &mut Context,
        expression: &'t Expression,
        callee: &'t Expression,
        arguments: &'t [Expression],
    ) -> TypeId {
        let (meaning, name) = match self.callee(context, callee) {
            Callee::Wrong => return self.ignore(context, arguments),
            Callee::None => {
                let message = "this cannot be called";
                let diagnostic = Diagnostic::new(Code::Use, message, callee.span, "no function")
                    .help(
                        "functions are called by their names, operations by `object$operation()`",
                    );
                self.report(diagnostic);
                return self.ignore(context, arguments);
            }
            Callee::Meaning(meaning, name) => (meaning, name),
        };
        if let Some(entity) = self.entity(meaning) {
            self.meanings.insert(callee.id, entity);
            self.meanings.insert(expression.id, entity);
        }
        match meaning {
            Meaning::Builtin(builtin) => self.builtin(context, builtin, expression.span, arguments),
            Meaning::Routine(id) => {
                if self.routines[id.index()].syntax.kind == RoutineKind::Process {
                    let message = format!("`{name}` is a process, and is not called");
                    let diagnostic = Diagnostic::new(Code::Fork, message, callee.span, "a process")
                        .help(format!("start it: `fork {name}(...)`"));
                    self.report(diagnostic);
                    return self.ignore(context, arguments);
                }
                self.arguments(context, id, expression.span, arguments);
                self.routines[id.index()].result
            }
            _ => {
                let message = format!("`{name}` is no function");
                let diagnostic = Diagnostic::new(Code::Use, message, callee.span, "not a function")
                    .help("an array is indexed by `[...]`, a function declared by `function`");
                self.report(diagnostic);
                self.ignore(context, arguments)
            }
        }
    }

    fn callee(&mut self, context: &Context, callee: &'t Expression) -> Callee<'t> {
        match &callee.kind {
            ExpressionKind::Name(name) => match self.look_up(context.scope, name) {
                Some(Meaning::Wrong) => Callee::Wrong,
                Some(meaning) => Callee::Meaning(meaning, name),
                None if self.is_own_operation(context, name) => {
                    self.report_own_operation(callee.span, name);
                    Callee::Wrong
                }
                None => {
                    self.find(context.scope, name, callee.span);
                    Callee::Wrong
                }
            },
            ExpressionKind::Field { of, field } => match self.exported(context, of, field) {
                Some(Some(meaning)) => Callee::Meaning(meaning, &field.text),
                Some(None) => Callee::Wrong,
                None => Callee::None,
            },
            _ => Callee::None,
        }
    }

    fn is_own_operation(&self, context: &Context, name: &str) -> bool {
        let owner = context.routine.map(|id| self.routines[id.index()].owner);
        matches!(owner, Some(Owner::Object(object)) if self.operation(object, name).is_some())
    }

    fn report_own_operation(&mut self, span: Span, name: &str) {
        let message = format!("the operation `{name}` is called without an object");
        let help = "operations are called from outside, by `object$operation()`; move what both \
                    need into a function";
        self.report(Diagnostic::new(Code::Use, message, span, "an operation").help(help));
    }

    /// Checks the arguments of what is wrong already.
    fn ignore(&mut self, context: &mut Context, arguments: &'t [Expression]) -> TypeId {
        for argument in arguments {
            self.infer(context, argument);
        }
        Types::UNKNOWN
    }

    /// Checks arguments against the parameters of a routine.
    fn arguments(
        &mut self,
        context: &mut Context,
        id: RoutineId,
        span: Span,
        arguments: &'t [Expression],
    ) {
        self.resolve_heading(id);
        let parameters = self.routines[id.index()].parameters.clone();
        self.expect_count(span, "arguments", parameters.len(), arguments.len());
        for (argument, parameter) in arguments.iter().zip(parameters) {
            let variable = &self.variables[parameter.index()];
            let of = variable.of;
            let mode = match variable.kind {
                super::VariableKind::Parameter(mode) => mode,
                _ => Mode::In,
            };
            let agrees = self.expect(context, argument, of);
            match mode {
                Mode::In => {}
                Mode::Out | Mode::InOut if agrees => {
                    self.change(context, argument, of, Code::Out);
                }
                Mode::Shared if agrees => self.share(context, argument, parameter),
                Mode::Out | Mode::InOut | Mode::Shared => {}
            }
        }
    }

    fn share(
        &mut self,
        context: &mut Context,
        argument: &Expression,
        parameter: super::VariableId,
    ) {
        // Only variables are of an object type.
        let Some(root) = self.root(argument) else { return };
        if self.is_instance(root) {
            let message = "an object within an object is not shared";
            let diagnostic = Diagnostic::new(Code::Shared, message, argument.span, "shared here")
                .help("call its operations here, in the operation of the object around it");
            self.report(diagnostic);
        }
        self.log.pass(root, parameter, context.times());
    }

    /// The type of what an operation returns.
    pub fn operation_call(
        &mut self,
        context: &mut Context,
        expression: &'t Expression,
        object: &'t Expression,
        operation: &'t Name,
        arguments: &'t [Expression],
    ) -> TypeId {
        let of = self.infer(context, object);
        let id = match *self.types.get(of) {
            Type::Object(id) => id,
            Type::Unknown => return self.ignore(context, arguments),
            _ => {
                let message = format!("`{}` is no object", self.describe(of));
                let diagnostic = Diagnostic::new(Code::Use, message, object.span, "no object")
                    .help("operations are called on variables of an object type");
                self.report(diagnostic);
                return self.ignore(context, arguments);
            }
        };
        let found = self.operation(id, &operation.text);
        let found = found.filter(|found| self.routines[found.index()].exported);
        let Some(found) = found else {
            let operations = self.objects[id.index()].operations.iter();
            let routines = operations.map(|id| &self.routines[id.index()]);
            let names: Vec<String> = routines
                .filter(|routine| routine.exported)
                .map(|routine| routine.syntax.name.text.clone())
                .collect();
            if self.objects[id.index()].implementation.is_some() {
                self.report_no_member(of, operation, "operation", names.iter());
            }
            return self.ignore(context, arguments);
        };
        self.meanings.insert(expression.id, Entity::Routine(found));
        if let Some(root) = self.root(object) {
            self.log.operate(root, found, context.times());
            if self.is_instance(root) {
                context.effect.nested.push((found, expression.span));
            }
        }
        self.arguments(context, found, expression.span, arguments);
        self.routines[found.index()].result
    }

    /// Checks a fork.
    pub fn fork(
        &mut self,
        context: &mut Context,
        process: &'t Expression,
        arguments: &'t [Expression],
        on: Option<&'t Expression>,
    ) {
        if let Some(on) = on {
            self.expect(context, on, Types::INTEGER);
        }
        let in_operation = context
            .routine
            .is_none_or(|id| self.routines[id.index()].syntax.kind == RoutineKind::Operation);
        if in_operation {
            let message = "an object forks no processes";
            let diagnostic = Diagnostic::new(Code::Fork, message, process.span, "forked here")
                .help("objects are passive; fork in a process or in a function that one calls");
            self.report(diagnostic);
        }
        match self.callee(context, process) {
            Callee::Meaning(Meaning::Routine(id), _)
                if self.routines[id.index()].syntax.kind == RoutineKind::Process =>
            {
                self.meanings.insert(process.id, Entity::Routine(id));
                self.arguments(context, id, process.span, arguments);
            }
            Callee::Wrong => {
                self.ignore(context, arguments);
            }
            Callee::Meaning(..) | Callee::None => {
                let message = "only processes are forked";
                let diagnostic = Diagnostic::new(Code::Fork, message, process.span, "no process")
                    .help("declare it by `process`, or call it without `fork`");
                self.report(diagnostic);
                self.ignore(context, arguments);
            }
        }
    }
}

/// The part of a call before the arguments.
enum Callee<'t> {
    /// A name with a meaning.
    Meaning(Meaning, &'t str),
    /// No name.
    None,
    /// A name that was reported.
    Wrong,
}
