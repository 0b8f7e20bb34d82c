//! Imports.

use super::facts::{ModuleId, ObjectId};
use super::scopes::{Meaning, ScopeId};
use super::symbols::{Symbols, UnitState};
use crate::diagnostics::{Code, Diagnostic};
use crate::suggestion::did_you_mean;
use crate::tree::{Declaration, DeclarationKind, Name};

impl<'t> Symbols<'t> {
    /// Adds what is imported to a scope.
    pub fn import_all(&mut self, scope: ScopeId, declarations: &'t [Declaration]) {
        for declaration in declarations {
            if let DeclarationKind::Import { module, names } = &declaration.kind {
                self.import(scope, module, names);
            }
        }
    }

    fn import(&mut self, scope: ScopeId, module: &Name, names: &[Name]) {
        let find =
            |units: &[UnitState<'_>]| units.iter().position(|unit| unit.name.text == module.text);
        let object = find(&self.objects).map(|place| ObjectId(place as u32));
        let found = find(&self.modules).map(|place| ModuleId(place as u32));
        let meaning = object.map(Meaning::Object).or(found.map(Meaning::Module));
        let outer = match meaning {
            Some(Meaning::Object(id)) => self.objects[id.index()].outer,
            Some(Meaning::Module(id)) => self.modules[id.index()].outer,
            _ => return self.report_missing(scope, module, names),
        };
        if names.is_empty() {
            let meaning = meaning.unwrap_or(Meaning::Wrong);
            if self.scopes.look_up(scope, &module.text) != Some(meaning) {
                self.declare(scope, &module.text, module.span, meaning);
            }
        }
        if let Some(meaning) =
            meaning.filter(|meaning| !names.is_empty() && self.is_generic(*meaning))
        {
            self.report_generic(meaning, module);
            for name in names {
                self.declare(scope, &name.text, name.span, Meaning::Wrong);
            }
            return;
        }
        for name in names {
            let found = self.scopes.names(outer).get(&name.text).copied();
            if found.is_none() {
                self.report_not_exported(outer, module, name);
            }
            let meaning = found.map_or(Meaning::Wrong, |(meaning, _)| meaning);
            self.declare(scope, &name.text, name.span, meaning);
        }
    }

    fn report_missing(&mut self, scope: ScopeId, module: &Name, names: &[Name]) {
        let units = self.modules.iter().chain(&self.objects);
        let known: Vec<&str> = units.map(|unit| unit.name.text.as_str()).collect();
        let help = did_you_mean(&module.text, known.into_iter()).unwrap_or_else(|| {
            "name the file that declares it on the command line, too".to_owned()
        });
        let message = format!("there is no module or object type `{}`", module.text);
        self.report(Diagnostic::new(Code::Import, message, module.span, "unknown").help(help));
        let wrong = if names.is_empty() { std::slice::from_ref(module) } else { names };
        for name in wrong {
            self.declare(scope, &name.text, name.span, Meaning::Wrong);
        }
    }
}
