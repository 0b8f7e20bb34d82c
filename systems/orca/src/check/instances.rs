//! Generic object types and modules, and their instances.
//!
//! A generic unit is checked with parameters that are types of which nothing is known; their values
//! are assigned, handed on and compared for equality. Each instance is a copy
//! ([`crate::instances`]), and is checked like what is not generic, with parameters that are names
//! of the types which the instance gives.

use std::collections::BTreeMap;

use super::collect::{Collector, Halves};
use super::facts::Entity;
use super::resolve::Resolver;
use super::scopes::{DefinitionId, Meaning, ScopeId};
use super::symbols::{Definition, DefinitionState};
use super::types::{Type, TypeId};
use crate::diagnostics::{Code, Diagnostic};
use crate::instances::MOST_INSTANCES;
use crate::source::FileId;
use crate::tree::{DeclarationKind, File, Generic, Instance, Name, TypeSyntax, Unit};

impl<'t> Collector<'_, 't> {
    /// Collects the instances that files declare.
    pub fn collect_instances(&mut self, files: &'t [File], scopes: &BTreeMap<FileId, ScopeId>) {
        for file in files {
            for declaration in &file.declarations {
                if let DeclarationKind::Instance(instance) = &declaration.kind {
                    self.symbols.instances.push((instance, scopes[&file.file]));
                }
            }
        }
        if let Some((instance, _)) = self.symbols.instances.get(MOST_INSTANCES) {
            let message = format!("more than {MOST_INSTANCES} instances");
            let span = instance.name.span;
            let diagnostic = Diagnostic::new(Code::Nesting, message, span, "one too many")
                .help("use one instance wherever the types are the same");
            self.symbols.report(diagnostic);
        }
    }

    /// The instance with a number, and the scope of its file.
    pub fn instance(&self, number: u16) -> Option<(&'t Instance, ScopeId)> {
        self.symbols.instances.get(usize::from(number).checked_sub(1)?).copied()
    }

    /// Declares the names of instances of which there is no copy, because they are wrong.
    pub fn declare_wrong_instances(&mut self) {
        for (instance, scope) in self.symbols.instances.clone() {
            let mut units = self.symbols.objects.iter().chain(&self.symbols.modules);
            if !units.any(|unit| std::ptr::eq(unit.name, &raw const instance.name)) {
                let name = &instance.name;
                self.symbols.declare(scope, &name.text, name.span, Meaning::Wrong);
            }
        }
    }

    /// Parameters of what is generic, on which both halves have to agree.
    pub fn check_parameters(&mut self, halves: &Halves<'t>) -> Option<&'t Generic> {
        let units: Vec<&'t Unit> = halves.both().map(|(unit, _)| unit).collect();
        if let [specification, implementation] = units[..] {
            let name = &implementation.name;
            match (&specification.generic, &implementation.generic) {
                (Some(_), None) | (None, Some(_)) => {
                    let message = format!("one half of `{}` is generic, and one is not", name.text);
                    let help = "write `generic` before both halves, and `end generic;` behind them";
                    self.report_halves(specification, implementation, message, help);
                }
                (Some(first), Some(second)) if !agree(first, second) => {
                    let message = format!("the halves of `{}` have other parameters", name.text);
                    let help = "write `generic` alone before the implementation: the parameters \
                                are those of the specification";
                    self.report_halves(specification, implementation, message, help);
                }
                _ => {}
            }
        }
        let generic = crate::instances::parameters(&units)?;
        if generic.parameters.is_empty() {
            let message = "what is generic has parameters";
            let diagnostic = Diagnostic::new(Code::Count, message, generic.span, "has none")
                .help("name the types that instances give: `generic (type T)`");
            self.symbols.report(diagnostic);
        }
        Some(generic)
    }

    fn report_halves(&mut self, first: &Unit, second: &Unit, message: String, help: &str) {
        let place = |unit: &Unit| unit.generic.as_ref().map_or(unit.name.span, |one| one.span);
        let diagnostic =
            Diagnostic::new(Code::Specification, message, place(second), "implemented here")
                .also(place(first), "specified here")
                .help(help);
        self.symbols.report(diagnostic);
    }

    /// Halves in scopes of their own, which have the parameters.
    pub fn with_parameters(
        &mut self,
        mut halves: Halves<'t>,
        generic: Option<&'t Generic>,
        instance: Option<(&'t Instance, ScopeId)>,
    ) -> Halves<'t> {
        let Some(generic) = generic else { return halves };
        let mut scopes = Vec::new();
        for (_, scope) in
            [&mut halves.specification, &mut halves.implementation].into_iter().flatten()
        {
            *scope = self.symbols.new_scope(*scope);
            scopes.push(*scope);
        }
        for (place, parameter) in generic.parameters.iter().enumerate() {
            let meaning = match instance {
                None => Meaning::Basic(self.unknown_type(parameter)),
                Some((instance, scope)) => match instance.arguments.get(place) {
                    Some(argument) => Meaning::Definition(self.given(parameter, argument, scope)),
                    None => Meaning::Wrong,
                },
            };
            for scope in &scopes {
                self.symbols.declare(*scope, &parameter.text, parameter.span, meaning);
            }
        }
        halves
    }

    /// A type of which nothing is known: no parts, no order, no other type that it agrees with.
    fn unknown_type(&mut self, parameter: &Name) -> TypeId {
        let of = Type::Record { name: parameter.text.clone(), fields: Vec::new() };
        let of = self.symbols.types.declare(of);
        self.symbols.declared.insert(parameter.span, Entity::Type(of));
        of
    }

    /// The type that an instance gives for a parameter.
    fn given(
        &mut self,
        parameter: &'t Name,
        argument: &'t TypeSyntax,
        scope: ScopeId,
    ) -> DefinitionId {
        let state = DefinitionState::Unresolved;
        self.symbols.definitions.push(Definition {
            name: parameter,
            syntax: argument,
            scope,
            state,
        });
        DefinitionId(self.symbols.definitions.len() - 1)
    }
}

impl<'t> Resolver<'_, 't> {
    /// Checks what instances are instances of, and the types that they give.
    pub fn check_instances(&mut self) {
        for (instance, scope) in self.symbols.instances.clone() {
            let Some(meaning) = self.symbols.find(scope, &instance.of.text, instance.of.span)
            else {
                continue;
            };
            let unit = match meaning {
                Meaning::Object(id) if instance.is_object => {
                    Some(&self.symbols.objects[id.index()])
                }
                Meaning::Module(id) if !instance.is_object => {
                    Some(&self.symbols.modules[id.index()])
                }
                _ => None,
            };
            let Some(generic) = unit.and_then(|unit| unit.generic) else {
                self.report_not_generic(instance, meaning);
                continue;
            };
            let (expected, found) = (generic.parameters.len(), instance.arguments.len());
            self.symbols.expect_count(instance.name.span, "types", expected, found);
            for argument in &instance.arguments {
                let (of, _) = self.resolve(scope, argument);
                if self.symbols.types.holds_objects(of) {
                    let message = "objects are not given to what is generic";
                    let diagnostic =
                        Diagnostic::new(Code::Shared, message, argument.span, "has an object")
                            .help("what is generic copies values of its parameters, and objects are not copied");
                    self.symbols.report(diagnostic);
                }
            }
        }
    }

    fn report_not_generic(&mut self, instance: &Instance, found: Meaning) {
        let (what, other) = match instance.is_object {
            true => ("object type", "module"),
            false => ("module", "object"),
        };
        let message = format!("`{}` is no generic {what}", instance.of.text);
        let help = match self.symbols.is_generic(found) {
            true => format!("write `{other} {} = new ...`", instance.name.text),
            false => "write `generic (type T)` before what is to have instances".to_owned(),
        };
        let diagnostic =
            Diagnostic::new(Code::Kind, message, instance.of.span, "has no such instances");
        self.symbols.report(diagnostic.help(help));
    }
}

/// True if the parameters of an implementation are those of the specification, or left out.
fn agree(specification: &Generic, implementation: &Generic) -> bool {
    let names = |generic: &Generic| -> Vec<String> {
        generic.parameters.iter().map(|name| name.text.clone()).collect()
    };
    implementation.parameters.is_empty() || names(specification) == names(implementation)
}
