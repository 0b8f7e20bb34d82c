//! Names in expressions, and their meanings.

use super::Checker;
use super::expressions::Context;
use super::facts::{Entity, Owner};
use super::scopes::Meaning;
use super::types::{TypeId, Types};
use crate::diagnostics::{Code, Diagnostic};
use crate::tree::{Expression, ExpressionKind, Name, RoutineKind};

impl<'t> Checker<'t> {
    /// The type of a variable, constant or value of an enumeration.
    pub fn name(
        &mut self,
        context: &mut Context,
        expression: &'t Expression,
        name: &str,
    ) -> TypeId {
        match self.find(context.scope, name, expression.span) {
            Some(meaning) => self.value(context, expression, meaning, name),
            None => Types::UNKNOWN,
        }
    }

    /// The type of what a name means, which must have a value.
    pub fn value(
        &mut self,
        context: &Context,
        expression: &Expression,
        meaning: Meaning,
        name: &str,
    ) -> TypeId {
        if let Some(entity) = self.entity(meaning) {
            self.meanings.insert(expression.id, entity);
        }
        let (what, help) = match meaning {
            Meaning::Variable(id) => {
                self.check_visible(context, expression, id);
                return self.variables[id.index()].of;
            }
            Meaning::Constant(id) => return self.constant(id).0,
            Meaning::Value(of, _) => return of,
            Meaning::Defined(id, _) => return self.definition(id).0,
            Meaning::Wrong => return Types::UNKNOWN,
            Meaning::Basic(_) | Meaning::Definition(_) => {
                ("a type", format!("declare a variable of this type: `x: {name};`"))
            }
            Meaning::Object(_) => {
                ("an object type", format!("declare an object of this type: `x: {name};`"))
            }
            Meaning::Module(_) => ("a module", format!("name what you need of it: `{name}.x`")),
            Meaning::Builtin(_) => ("a function", format!("call it: `{name}(...)`")),
            Meaning::Routine(id) => match self.routines[id.index()].syntax.kind {
                RoutineKind::Process => ("a process", format!("start it: `fork {name}(...)`")),
                _ => ("a function", format!("call it: `{name}(...)`")),
            },
        };
        let message = format!("`{name}` is {what}, and has no value");
        let diagnostic = Diagnostic::new(Code::Kind, message, expression.span, "not a value");
        self.report(diagnostic.help(help));
        Types::UNKNOWN
    }

    /// The meaning of a name that was found, for others.
    pub fn entity(&mut self, meaning: Meaning) -> Option<Entity> {
        Some(match meaning {
            Meaning::Variable(id) => Entity::Variable(id),
            Meaning::Constant(id) => Entity::Constant(id),
            Meaning::Basic(of) => Entity::Type(of),
            Meaning::Definition(id) => Entity::Type(self.definition(id).0),
            Meaning::Defined(id, number) => Entity::Value { of: self.definition(id).0, number },
            Meaning::Value(of, number) => Entity::Value { of, number },
            Meaning::Routine(id) => Entity::Routine(id),
            Meaning::Object(id) => Entity::Object(id),
            Meaning::Module(id) => Entity::Module(id),
            Meaning::Builtin(builtin) => Entity::Builtin(builtin),
            Meaning::Wrong => return None,
        })
    }

    /// The meaning of `of.field` if `of` is a module or an object type: `Some(None)` if it has no
    /// such name, which was reported.
    pub fn exported(
        &mut self,
        context: &Context,
        of: &Expression,
        field: &Name,
    ) -> Option<Option<Meaning>> {
        let ExpressionKind::Name(module) = &of.kind else { return None };
        let meaning = self.look_up(context.scope, module)?;
        if !matches!(meaning, Meaning::Module(_) | Meaning::Object(_)) {
            return None;
        }
        let module = Name { text: module.clone(), span: of.span };
        Some(self.find_exported(context.scope, &module, field))
    }

    /// Reports an object's variable in a function: what functions do to an object is only seen in
    /// their parameters.
    fn check_visible(&mut self, context: &Context, expression: &Expression, id: super::VariableId) {
        let Some(routine) = context.routine else { return };
        let routine = &self.routines[routine.index()];
        let function = routine.syntax.kind == RoutineKind::Function;
        if function && matches!(routine.owner, Owner::Object(_)) && self.is_instance(id) {
            let message = "a function does not see the object's variables";
            let diagnostic =
                Diagnostic::new(Code::Kind, message, expression.span, "a variable of the object")
                    .help("give it to the function as a parameter, `in out` if it is changed");
            self.report(diagnostic);
        }
    }
}
