//! Calls of functions and operations, and forks.

use super::expressions::Expressions;
use super::facts::{Entity, Owner, RoutineId, VariableId, VariableKind};
use super::scopes::Meaning;
use super::statements::Statements;
use super::types::{Type, TypeId, Types};
use crate::diagnostics::{Code, Diagnostic};
use crate::source::Span;
use crate::tree::{Expression, ExpressionKind, Mode, Name, RoutineKind};

impl<'t> Expressions<'_, 't> {
    /// The type of what a function returns.
    pub fn call(
        &mut self,
        expression: &'t Expression,
        callee: &'t Expression,
        arguments: &'t [Expression],
    ) -> TypeId {
        let (meaning, name) = match self.callee(callee) {
            Callee::Wrong => return self.ignore(arguments),
            Callee::None => {
                let message = "this cannot be called";
                let diagnostic = Diagnostic::new(Code::Use, message, callee.span, "no function")
                    .help(
                        "functions are called by their names, operations by `object$operation()`",
                    );
                self.symbols.report(diagnostic);
                return self.ignore(arguments);
            }
            Callee::Meaning(meaning, name) => (meaning, name),
        };
        if let Some(entity) = self.resolver().entity(meaning) {
            self.symbols.meanings.insert(callee.id, entity);
            self.symbols.meanings.insert(expression.id, entity);
        }
        match meaning {
            Meaning::Builtin(builtin) => self.builtin(builtin, expression.span, arguments),
            Meaning::Routine(id) => {
                if self.symbols.routines[id.index()].syntax.kind == RoutineKind::Process {
                    let message = format!("`{name}` is a process, and is not called");
                    let diagnostic = Diagnostic::new(Code::Fork, message, callee.span, "a process")
                        .help(format!("start it: `fork {name}(...)`"));
                    self.symbols.report(diagnostic);
                    return self.ignore(arguments);
                }
                self.arguments(id, expression.span, arguments);
                self.symbols.routines[id.index()].result
            }
            _ => {
                let message = format!("`{name}` is no function");
                let diagnostic = Diagnostic::new(Code::Use, message, callee.span, "not a function")
                    .help("an array is indexed by `[...]`, a function declared by `function`");
                self.symbols.report(diagnostic);
                self.ignore(arguments)
            }
        }
    }

    fn callee(&mut self, callee: &'t Expression) -> Callee<'t> {
        match &callee.kind {
            ExpressionKind::Name(name) => match self.symbols.scopes.look_up(self.scope, name) {
                Some(Meaning::Wrong) => Callee::Wrong,
                Some(meaning) => Callee::Meaning(meaning, name),
                None if self.is_own_operation(name) => {
                    self.report_own_operation(callee.span, name);
                    Callee::Wrong
                }
                None => {
                    self.symbols.find(self.scope, name, callee.span);
                    Callee::Wrong
                }
            },
            ExpressionKind::Field { of, field } => match self.exported(of, field) {
                Some(Some(meaning)) => Callee::Meaning(meaning, &field.text),
                Some(None) => Callee::Wrong,
                None => Callee::None,
            },
            _ => Callee::None,
        }
    }

    fn is_own_operation(&self, name: &str) -> bool {
        let owner = self.routine.map(|id| self.symbols.routines[id.index()].owner);
        matches!(owner, Some(Owner::Object(object)) if self.symbols.operation(object, name).is_some())
    }

    fn report_own_operation(&mut self, span: Span, name: &str) {
        let message = format!("the operation `{name}` is called without an object");
        let help = "operations are called from outside, by `object$operation()`; move what both \
                    need into a function";
        self.symbols.report(Diagnostic::new(Code::Use, message, span, "an operation").help(help));
    }

    /// Checks the arguments of what is wrong already.
    fn ignore(&mut self, arguments: &'t [Expression]) -> TypeId {
        for argument in arguments {
            self.infer(argument);
        }
        Types::UNKNOWN
    }

    /// Checks arguments against the parameters of a routine.
    fn arguments(&mut self, id: RoutineId, span: Span, arguments: &'t [Expression]) {
        self.resolver().resolve_heading(id);
        let parameters = self.symbols.routines[id.index()].parameters.clone();
        self.symbols.expect_count(span, "arguments", parameters.len(), arguments.len());
        for (argument, parameter) in arguments.iter().zip(parameters) {
            let variable = &self.symbols.variables[parameter.index()];
            let of = variable.of;
            let mode = match variable.kind {
                VariableKind::Parameter(mode) => mode,
                _ => Mode::In,
            };
            let agrees = self.expect(argument, of);
            match mode {
                Mode::In => {}
                Mode::Out | Mode::InOut if agrees => {
                    self.change(argument, of, Code::Out);
                }
                Mode::Shared if agrees => self.share(argument, parameter),
                Mode::Out | Mode::InOut | Mode::Shared => {}
            }
        }
    }

    fn share(&mut self, argument: &Expression, parameter: VariableId) {
        // Only variables are of an object type.
        let Some(root) = self.symbols.root(argument) else { return };
        if self.symbols.is_instance(root) {
            let message = "an object within an object is not shared";
            let diagnostic = Diagnostic::new(Code::Shared, message, argument.span, "shared here")
                .help("call its operations here, in the operation of the object around it");
            self.symbols.report(diagnostic);
        }
        self.symbols.log.pass(root, parameter, self.times());
    }

    /// The type of what an operation returns.
    pub fn operation_call(
        &mut self,
        expression: &'t Expression,
        object: &'t Expression,
        operation: &'t Name,
        arguments: &'t [Expression],
    ) -> TypeId {
        let of = self.infer(object);
        let id = match *self.symbols.types.get(of) {
            Type::Object(id) => id,
            Type::Unknown => return self.ignore(arguments),
            _ => {
                let message = format!("`{}` is no object", self.symbols.describe(of));
                let diagnostic = Diagnostic::new(Code::Use, message, object.span, "no object")
                    .help("operations are called on variables of an object type");
                self.symbols.report(diagnostic);
                return self.ignore(arguments);
            }
        };
        let found = self.symbols.operation(id, &operation.text);
        let found = found.filter(|found| self.symbols.routines[found.index()].exported);
        let Some(found) = found else {
            let operations = self.symbols.objects[id.index()].operations.iter();
            let routines = operations.map(|id| &self.symbols.routines[id.index()]);
            let names: Vec<String> = routines
                .filter(|routine| routine.exported)
                .map(|routine| routine.syntax.name.text.clone())
                .collect();
            if self.symbols.objects[id.index()].implementation.is_some() {
                self.symbols.report_no_member(of, operation, "operation", names.iter());
            }
            return self.ignore(arguments);
        };
        self.symbols.meanings.insert(expression.id, Entity::Routine(found));
        if let Some(root) = self.symbols.root(object) {
            self.symbols.log.operate(root, found, self.times());
            if self.symbols.is_instance(root) {
                self.effect.nested.push((found, expression.span));
            }
        }
        self.arguments(found, expression.span, arguments);
        self.symbols.routines[found.index()].result
    }
}

impl<'t> Statements<'_, 't> {
    /// Checks a fork.
    pub fn fork(
        &mut self,
        process: &'t Expression,
        arguments: &'t [Expression],
        on: Option<&'t Expression>,
    ) {
        if let Some(on) = on {
            self.expressions.expect(on, Types::INTEGER);
        }
        let in_operation = self.expressions.routine.is_none_or(|id| {
            self.expressions.symbols.routines[id.index()].syntax.kind == RoutineKind::Operation
        });
        if in_operation {
            let message = "an object forks no processes";
            let diagnostic = Diagnostic::new(Code::Fork, message, process.span, "forked here")
                .help("objects are passive; fork in a process or in a function that one calls");
            self.expressions.symbols.report(diagnostic);
        }
        match self.expressions.callee(process) {
            Callee::Meaning(Meaning::Routine(id), _)
                if self.expressions.symbols.routines[id.index()].syntax.kind
                    == RoutineKind::Process =>
            {
                self.expressions.symbols.meanings.insert(process.id, Entity::Routine(id));
                self.expressions.arguments(id, process.span, arguments);
            }
            Callee::Wrong => {
                self.expressions.ignore(arguments);
            }
            Callee::Meaning(..) | Callee::None => {
                let message = "only processes are forked";
                let diagnostic = Diagnostic::new(Code::Fork, message, process.span, "no process")
                    .help("declare it by `process`, or call it without `fork`");
                self.expressions.symbols.report(diagnostic);
                self.expressions.ignore(arguments);
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
