//! Names in expressions, and their meanings.

use super::expressions::Expressions;
use super::facts::{Owner, VariableId};
use super::scopes::Meaning;
use super::types::{TypeId, Types};
use crate::diagnostics::{Code, Diagnostic};
use crate::tree::{Expression, ExpressionKind, Name, RoutineKind};

impl<'t> Expressions<'_, 't> {
    /// The type of a variable, constant or value of an enumeration.
    pub fn name(&mut self, expression: &'t Expression, name: &str) -> TypeId {
        match self.symbols.find(self.scope, name, expression.span) {
            Some(meaning) => self.value(expression, meaning, name),
            None => Types::UNKNOWN,
        }
    }

    /// The type of what a name means, which must have a value.
    pub fn value(&mut self, expression: &Expression, meaning: Meaning, name: &str) -> TypeId {
        if let Some(entity) = self.resolver().entity(meaning) {
            self.symbols.meanings.insert(expression.id, entity);
        }
        let (what, help) = match meaning {
            Meaning::Variable(id) => {
                self.check_visible(expression, id);
                return self.symbols.variables[id.index()].of;
            }
            Meaning::Constant(id) => return self.resolver().constant(id).0,
            Meaning::Value(of, _) => return of,
            Meaning::Defined(id, _) => return self.resolver().definition(id).0,
            Meaning::Wrong => return Types::UNKNOWN,
            Meaning::Basic(_) | Meaning::Definition(_) => {
                ("a type", format!("declare a variable of this type: `x: {name};`"))
            }
            Meaning::Object(_) => {
                ("an object type", format!("declare an object of this type: `x: {name};`"))
            }
            Meaning::Module(_) => ("a module", format!("name what you need of it: `{name}.x`")),
            Meaning::Builtin(_) => ("a function", format!("call it: `{name}(...)`")),
            Meaning::Routine(id) => match self.symbols.routines[id.index()].syntax.kind {
                RoutineKind::Process => ("a process", format!("start it: `fork {name}(...)`")),
                _ => ("a function", format!("call it: `{name}(...)`")),
            },
        };
        let message = format!("`{name}` is {what}, and has no value");
        let diagnostic = Diagnostic::new(Code::Kind, message, expression.span, "not a value");
        self.symbols.report(diagnostic.help(help));
        Types::UNKNOWN
    }

    /// The meaning of `of.field` if `of` is a module or an object type: `Some(None)` if it has no
    /// such name, which was reported.
    pub fn exported(&mut self, of: &Expression, field: &Name) -> Option<Option<Meaning>> {
        let ExpressionKind::Name(module) = &of.kind else { return None };
        let meaning = self.symbols.scopes.look_up(self.scope, module)?;
        if !matches!(meaning, Meaning::Module(_) | Meaning::Object(_)) {
            return None;
        }
        let module = Name { text: module.clone(), span: of.span };
        let scope = self.scope;
        Some(self.resolver().find_exported(scope, &module, field))
    }

    /// Reports an object's variable in a function: what functions do to an object is only seen in
    /// their parameters.
    fn check_visible(&mut self, expression: &Expression, id: VariableId) {
        let Some(routine) = self.routine else { return };
        let routine = &self.symbols.routines[routine.index()];
        let function = routine.syntax.kind == RoutineKind::Function;
        if function && matches!(routine.owner, Owner::Object(_)) && self.symbols.is_instance(id) {
            let message = "a function does not see the object's variables";
            let diagnostic =
                Diagnostic::new(Code::Kind, message, expression.span, "a variable of the object")
                    .help("give it to the function as a parameter, `in out` if it is changed");
            self.symbols.report(diagnostic);
        }
    }
}
