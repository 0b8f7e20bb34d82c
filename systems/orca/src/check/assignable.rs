//! Assignment targets: variables and their parts.

use super::expressions::Expressions;
use super::facts::VariableKind;
use super::types::{TypeId, Types};
use crate::diagnostics::{Code, Diagnostic};
use crate::tree::{Expression, ExpressionKind, Mode};

impl<'t> Expressions<'_, 't> {
    /// Notes that a checked expression is changed; reports it if that cannot be. The word says what
    /// changes it.
    pub fn change(&mut self, target: &Expression, of: TypeId, code: Code) {
        if matches!(target.bare().kind, ExpressionKind::Malformed) {
            return;
        }
        let Some(root) = self.symbols.root(target) else {
            // Of an unknown name nothing is known.
            if of != Types::UNKNOWN {
                let message = "this is no variable, and cannot be changed";
                let diagnostic = Diagnostic::new(code, message, target.span, "not a variable")
                    .help("name a variable, or a part of one");
                self.symbols.report(diagnostic);
            }
            return;
        };
        if self.symbols.is_instance(root) {
            self.effect.writes = true;
        }
        let variable = &self.symbols.variables[root.index()];
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
            _ if self.symbols.types.holds_objects(of) => {
                return self.symbols.report_copied(target.span, of);
            }
            _ => return,
        };
        let diagnostic = Diagnostic::new(code, message, target.span, "changed here")
            .also(span, "declared here")
            .help(help);
        self.symbols.report(diagnostic);
    }
}
