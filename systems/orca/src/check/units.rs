//! The two halves of object types and modules, and whether they agree.

use super::collect::Collector;
use super::facts::{Entity, Owner, RoutineId};
use super::scopes::{Meaning, Names};
use crate::diagnostics::{Code, Diagnostic};
use crate::tree::{Declaration, DeclarationKind, Half, Routine, RoutineKind, Unit};

impl<'t> Collector<'_, 't> {
    /// Collects both halves of an object type or module. What a specification declares is known in
    /// the implementation; without a specification, others see all of the implementation.
    pub fn collect_halves(&mut self, owner: Owner) {
        let state = self.symbols.unit(owner);
        let (specification, implementation) = (state.specification, state.implementation);
        let (outer, inner) = (state.outer, state.inner);
        if let Some(unit) = specification {
            self.collect_declarations(outer, owner, &unit.declarations);
            let names = self.symbols.scopes.names(outer).clone();
            self.symbols.scopes.set_names(inner, names);
            self.check_kinds(owner, unit);
        }
        let Some(unit) = implementation else {
            if let Some(unit) = specification {
                self.report_unimplemented(owner, unit);
            }
            return;
        };
        self.collect_declarations(inner, owner, &unit.declarations);
        self.check_kinds(owner, unit);
        for declaration in &unit.declarations {
            if let (Owner::Object(object), DeclarationKind::Variable(variable)) =
                (owner, &declaration.kind)
            {
                self.collect_instance(object, inner, &variable.names);
            }
        }
        let routines: Vec<RoutineId> = routines(unit)
            .map(|routine| {
                let id = self.symbols.collect_routine(inner, owner, routine);
                self.symbols.routines[id.index()].exported = specification.is_none();
                id
            })
            .collect();
        self.collect_operations(owner, &routines);
        match specification {
            Some(specification) => self.match_headings(owner, specification, &routines),
            None => {
                let names = self.exported_names(owner);
                self.symbols.scopes.set_names(outer, names);
            }
        }
    }

    fn exported_names(&self, owner: Owner) -> Names {
        let inner = self.symbols.scopes.names(self.symbols.unit(owner).inner);
        let others =
            inner.iter().filter(|(_, (meaning, _))| !matches!(meaning, Meaning::Variable(_)));
        others.map(|(name, meaning)| (name.clone(), *meaning)).collect()
    }

    fn collect_operations(&mut self, owner: Owner, routines: &[RoutineId]) {
        let Owner::Object(object) = owner else { return };
        for id in routines {
            let syntax = self.symbols.routines[id.index()].syntax;
            if syntax.kind != RoutineKind::Operation {
                continue;
            }
            match self.symbols.operation(object, &syntax.name.text) {
                None => self.symbols.objects[object.index()].operations.push(*id),
                Some(first) => {
                    let first = self.symbols.routines[first.index()].syntax.name.span;
                    self.symbols.report_twice(&syntax.name.text, syntax.name.span, first);
                }
            }
        }
    }

    fn match_headings(&mut self, owner: Owner, specification: &'t Unit, routines: &[RoutineId]) {
        for heading in self::routines(specification) {
            let found = routines.iter().copied().find(|id| {
                let syntax = self.symbols.routines[id.index()].syntax;
                syntax.name.text == heading.name.text && syntax.kind == heading.kind
            });
            let Some(id) = found else {
                self.report_missing_routine(owner, heading);
                continue;
            };
            self.symbols.routines[id.index()].exported = true;
            self.symbols.declared.insert(heading.name.span, Entity::Routine(id));
            if heading.kind != RoutineKind::Operation {
                let outer = self.symbols.unit(owner).outer;
                self.symbols.declare(
                    outer,
                    &heading.name.text,
                    heading.name.span,
                    Meaning::Routine(id),
                );
            }
        }
    }

    fn report_missing_routine(&mut self, owner: Owner, heading: &Routine) {
        let (word, name) = (heading.kind.word(), &heading.name.text);
        let message = format!("{word} `{name}` is specified, and not implemented");
        let place = self.symbols.unit(owner).name.span;
        let diagnostic =
            Diagnostic::new(Code::Specification, message, heading.name.span, "specified here")
                .also(place, "the implementation does not have it")
                .help(format!("add `{word} {name}` to the implementation, or remove it here"));
        self.symbols.report(diagnostic);
    }

    fn report_unimplemented(&mut self, owner: Owner, unit: &Unit) {
        let what = match owner {
            Owner::Object(_) => "object",
            _ => "module",
        };
        let name = &unit.name.text;
        let message = format!("{what} `{name}` has no implementation");
        let help = format!(
            "name the file that has `{what} implementation {name}` on the command line, too"
        );
        let label = "only the specification is here";
        self.symbols.report(
            Diagnostic::new(Code::Specification, message, unit.name.span, label).help(help),
        );
    }

    /// Reports declarations that have no place in an object type or module.
    fn check_kinds(&mut self, owner: Owner, unit: &'t Unit) {
        let is_object = matches!(owner, Owner::Object(_));
        for declaration in &unit.declarations {
            let (span, message, help) = match &declaration.kind {
                DeclarationKind::Variable(variable) if !is_object => (
                    variable.names.first().map(|name| name.span),
                    "a module has no variables",
                    "declare them in a process, or in an object type to share them",
                ),
                DeclarationKind::Variable(variable) if unit.half == Half::Specification => (
                    variable.names.first().map(|name| name.span),
                    "a specification has no variables",
                    "move them into the implementation: nobody else sees an object's variables",
                ),
                DeclarationKind::Routine(routine) => match (routine.kind, is_object) {
                    (RoutineKind::Operation, false) => (
                        Some(routine.name.span),
                        "a module has no operations",
                        "make it a function, or the module an object type",
                    ),
                    (RoutineKind::Process, true) => (
                        Some(routine.name.span),
                        "an object type has no processes",
                        "objects are passive: declare the process outside, with the object as \
                         `shared` parameter",
                    ),
                    _ => continue,
                },
                _ => continue,
            };
            let span = span.unwrap_or(declaration.span);
            self.symbols
                .report(Diagnostic::new(Code::Misplaced, message, span, "not here").help(help));
        }
        if let (false, Some(block)) = (is_object, &unit.initialisation) {
            let message = "a module has no initialisation";
            let diagnostic = Diagnostic::new(Code::Misplaced, message, block.span, "not here")
                .help("a module has no variables that it could initialise; remove the block");
            self.symbols.report(diagnostic);
        }
    }
}

/// The routines of a half.
fn routines(unit: &Unit) -> impl Iterator<Item = &Routine> {
    unit.declarations.iter().filter_map(|Declaration { kind, .. }| match kind {
        DeclarationKind::Routine(routine) => Some(routine),
        _ => None,
    })
}
