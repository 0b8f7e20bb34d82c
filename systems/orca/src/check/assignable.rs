//! Assignment targets: variables and their parts.

use super::Checker;
use super::expressions::Context;
use super::facts::{Entity, VariableId, VariableKind};
use super::types::{Type, TypeId, Types};
use crate::diagnostics::{Code, Diagnostic};
use crate::source::Span;
use crate::tree::{Expression, ExpressionKind, Mode};

impl<'t> Checker<'t> {
    /// The variable of which a checked expression is a part, if it is a part of one.
    pub fn root(&self, expression: &Expression) -> Option<VariableId> {
        let mut part = expression;
        loop {
            match &part.kind {
                ExpressionKind::Field { of, .. } | ExpressionKind::Index { of, .. } => part = of,
                ExpressionKind::Parenthesised(inner) => part = inner,
                ExpressionKind::Name(_) => {
                    return match self.meanings.get(&part.id) {
                        Some(Entity::Variable(id)) => Some(*id),
                        _ => None,
                    };
                }
                _ => return None,
            }
        }
    }

    /// Notes that a checked expression is changed; reports it if that cannot be. The word says what
    /// changes it.
    pub fn change(&mut self, context: &mut Context, target: &Expression, of: TypeId, code: Code) {
        if matches!(target.bare().kind, ExpressionKind::Malformed) {
            return;
        }
        let Some(root) = self.root(target) else {
            // Of an unknown name nothing is known.
            if of != Types::UNKNOWN {
                let message = "this is no variable, and cannot be changed";
                let diagnostic = Diagnostic::new(code, message, target.span, "not a variable")
                    .help("name a variable, or a part of one");
                self.report(diagnostic);
            }
            return;
        };
        if self.is_instance(root) {
            context.effect.writes = true;
        }
        let variable = &self.variables[root.index()];
        let (name, span) = (variable.name.clone(), variable.span);
        let (message, help) = match variable.kind {
            VariableKind::Parameter(Mode::In) => (
                format!("`{name}` is an `in` parameter, and cannot be changed"),
                format!("declare it `{name}: in out ...`, or copy it into a local variable"),
            ),
            VariableKind::Loop => (
                format!("`{name}` is the variable of a `for`, and cannot be changed"),
                "use `while`, and a variable of your own".to_owned(),
            ),
            _ if self.types.holds_objects(of) => return self.report_copied(target.span, of),
            _ => return,
        };
        let diagnostic = Diagnostic::new(code, message, target.span, "changed here")
            .also(span, "declared here")
            .help(help);
        self.report(diagnostic);
    }

    /// The message that a type is not copied.
    pub fn not_copied(&self, of: TypeId) -> String {
        match self.types.get(of) {
            Type::Object(_) => format!("objects are not copied: `{}`", self.describe(of)),
            _ => format!("`{}` has objects, which are not copied", self.describe(of)),
        }
    }

    /// Reports a copy of an object.
    pub fn report_copied(&mut self, span: Span, of: TypeId) {
        let message = self.not_copied(of);
        let diagnostic = Diagnostic::new(Code::Shared, message, span, "would be a copy")
            .help("share the object: hand it to a process or function as `shared` parameter");
        self.report(diagnostic);
    }
}
