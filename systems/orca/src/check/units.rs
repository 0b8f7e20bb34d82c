//! The two halves of object types and modules, and whether they agree.

use super::Checker;
use super::facts::{Entity, ObjectId, Owner, RoutineId};
use super::scopes::Meaning;
use crate::diagnostics::{Code, Diagnostic};
use crate::tree::{Declaration, DeclarationKind, Half, Routine, RoutineKind, Unit};

impl<'t> Checker<'t> {
    /// Collects both halves of an object type or module. What a specification declares is known in
    /// the implementation; without a specification, others see all of the implementation.
    pub fn collect_halves(&mut self, owner: Owner) {
        let state = self.unit(owner);
        let (specification, implementation) = (state.specification, state.implementation);
        let (outer, inner) = (state.outer, state.inner);
        if let Some(unit) = specification {
            self.collect_declarations(outer, owner, &unit.declarations);
            self.scopes[inner.0].names = self.scopes[outer.0].names.clone();
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
                let id = self.collect_routine(inner, owner, routine);
                self.routines[id.index()].exported = specification.is_none();
                id
            })
            .collect();
        self.collect_operations(owner, &routines);
        match specification {
            Some(specification) => self.match_headings(owner, specification, &routines),
            None => self.scopes[outer.0].names = self.exported_names(owner),
        }
    }

    pub fn unit(&self, owner: Owner) -> &super::UnitState<'t> {
        match owner {
            Owner::Object(id) => &self.objects[id.index()],
            // A file is no unit, and nobody asks for it.
            Owner::Module(id) => &self.modules[id.index()],
            Owner::File => unreachable!("a file has no halves"),
        }
    }

    fn exported_names(
        &self,
        owner: Owner,
    ) -> std::collections::BTreeMap<String, (Meaning, crate::source::Span)> {
        let inner = &self.scopes[self.unit(owner).inner.0].names;
        let others =
            inner.iter().filter(|(_, (meaning, _))| !matches!(meaning, Meaning::Variable(_)));
        others.map(|(name, meaning)| (name.clone(), *meaning)).collect()
    }

    fn collect_operations(&mut self, owner: Owner, routines: &[RoutineId]) {
        let Owner::Object(object) = owner else { return };
        for id in routines {
            let syntax = self.routines[id.index()].syntax;
            if syntax.kind != RoutineKind::Operation {
                continue;
            }
            match self.operation(object, &syntax.name.text) {
                None => self.objects[object.index()].operations.push(*id),
                Some(first) => {
                    let first = self.routines[first.index()].syntax.name.span;
                    let message = format!("`{}` is declared twice", syntax.name.text);
                    let diagnostic = Diagnostic::new(
                        Code::Twice,
                        message,
                        syntax.name.span,
                        "declared again here",
                    )
                    .also(first, "declared here first")
                    .help("give one of them another name");
                    self.report(diagnostic);
                }
            }
        }
    }

    /// An operation of an object type, exported or not.
    pub fn operation(&self, object: ObjectId, name: &str) -> Option<RoutineId> {
        let mut operations = self.objects[object.index()].operations.iter().copied();
        operations.find(|id| self.routines[id.index()].syntax.name.text == name)
    }

    fn match_headings(&mut self, owner: Owner, specification: &'t Unit, routines: &[RoutineId]) {
        for heading in self::routines(specification) {
            let found = routines.iter().copied().find(|id| {
                let syntax = self.routines[id.index()].syntax;
                syntax.name.text == heading.name.text && syntax.kind == heading.kind
            });
            let Some(id) = found else {
                self.report_missing_routine(owner, heading);
                continue;
            };
            self.routines[id.index()].exported = true;
            self.declared.insert(heading.name.span, Entity::Routine(id));
            if heading.kind != RoutineKind::Operation {
                let outer = self.unit(owner).outer;
                self.declare(outer, &heading.name.text, heading.name.span, Meaning::Routine(id));
            }
        }
    }

    fn report_missing_routine(&mut self, owner: Owner, heading: &Routine) {
        let (word, name) = (heading.kind.word(), &heading.name.text);
        let message = format!("{word} `{name}` is specified, and not implemented");
        let place = self.unit(owner).name.span;
        let diagnostic =
            Diagnostic::new(Code::Specification, message, heading.name.span, "specified here")
                .also(place, "the implementation does not have it")
                .help(format!("add `{word} {name}` to the implementation, or remove it here"));
        self.report(diagnostic);
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
        self.report(
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
            self.report(Diagnostic::new(Code::Misplaced, message, span, "not here").help(help));
        }
        if let (false, Some(block)) = (is_object, &unit.initialisation) {
            let message = "a module has no initialisation";
            let diagnostic = Diagnostic::new(Code::Misplaced, message, block.span, "not here")
                .help("a module has no variables that it could initialise; remove the block");
            self.report(diagnostic);
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
