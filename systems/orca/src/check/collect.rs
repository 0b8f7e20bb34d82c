//! The first pass: the names of files, modules and object types.

use std::collections::BTreeMap;

use super::facts::{Entity, ModuleId, ObjectId, Owner, VariableKind};
use super::scopes::{Meaning, ScopeId, UNIVERSE};
use super::symbols::{Symbols, UnitState};
use super::types::{Shape, Type, Types};
use crate::diagnostics::{Code, Diagnostic};
use crate::source::FileId;
use crate::tree::{Declaration, DeclarationKind, File, Half, Name, Unit};

/// The two halves of an object type or module, each with the scope of its file.
#[derive(Clone, Copy, Default)]
pub struct Halves<'t> {
    pub specification: Option<(&'t Unit, ScopeId)>,
    pub implementation: Option<(&'t Unit, ScopeId)>,
}

/// An object type or module among others: whether it is an object type, its name, and the number of
/// the instance that it is.
type Key<'t> = (bool, &'t str, Option<u16>);

impl<'t> Halves<'t> {
    pub fn both(&self) -> impl Iterator<Item = (&'t Unit, ScopeId)> + use<'t> {
        self.specification.into_iter().chain(self.implementation)
    }
}

/// The pass that collects names.
pub struct Collector<'s, 't> {
    pub symbols: &'s mut Symbols<'t>,
}

impl<'t> Collector<'_, 't> {
    /// Collects all names that do not stand in a routine.
    pub fn collect(&mut self, files: &'t [File]) {
        let mut scopes = BTreeMap::new();
        for file in files {
            // Copies for instances see what the file sees, and follow it.
            let scope = match scopes.get(&file.file.original()) {
                Some(scope) => *scope,
                None => self.symbols.new_scope(UNIVERSE),
            };
            scopes.insert(file.file, scope);
        }
        self.collect_instances(files, &scopes);
        self.collect_units(files, &scopes);
        self.declare_wrong_instances();
        let mut imports = Vec::new();
        for file in files {
            let scope = scopes[&file.file];
            self.collect_declarations(scope, Owner::File, &file.declarations);
            imports.push((scope, file.declarations.as_slice()));
        }
        for unit in self.symbols.modules.iter().chain(&self.symbols.objects) {
            let halves = [(unit.outer, unit.specification), (unit.inner, unit.implementation)];
            for (scope, half) in halves {
                imports.extend(half.map(|half| (scope, half.declarations.as_slice())));
            }
        }
        for (scope, declarations) in imports {
            self.symbols.import_all(scope, declarations);
        }
    }

    fn collect_units(&mut self, files: &'t [File], scopes: &BTreeMap<FileId, ScopeId>) {
        let mut order: Vec<Key<'t>> = Vec::new();
        let mut halves: BTreeMap<Key<'t>, Halves<'t>> = BTreeMap::new();
        for file in files {
            for declaration in &file.declarations {
                let (is_object, unit) = match &declaration.kind {
                    DeclarationKind::Object(unit) => (true, unit),
                    DeclarationKind::Module(unit) => (false, unit),
                    _ => continue,
                };
                let key = (is_object, unit.name.text.as_str(), file.file.instance());
                if !halves.contains_key(&key) {
                    order.push(key);
                }
                let found = halves.entry(key).or_default();
                let place = match unit.half {
                    Half::Specification => &mut found.specification,
                    Half::Implementation => &mut found.implementation,
                };
                match *place {
                    None => *place = Some((unit, scopes[&file.file])),
                    Some((first, _)) => self.report_second_half(unit, first),
                }
            }
        }
        for key in order {
            self.collect_unit(key, halves[&key]);
        }
    }

    fn report_second_half(&mut self, second: &Unit, first: &Unit) {
        let half = match second.half {
            Half::Specification => "specification",
            Half::Implementation => "implementation",
        };
        let message = format!("`{}` has two {half}s", second.name.text);
        let diagnostic = Diagnostic::new(Code::Twice, message, second.name.span, "second one here")
            .also(first.name.span, "first one here")
            .help("remove one of them, or give it another name");
        self.symbols.report(diagnostic);
    }

    fn collect_unit(&mut self, (is_object, _, instance): Key<'t>, halves: Halves<'t>) {
        let Some((unit, _)) = halves.implementation.or(halves.specification) else { return };
        let instance = instance.and_then(|number| self.instance(number));
        let mut names: Vec<(ScopeId, &'t Name)> = match instance {
            Some((instance, scope)) => vec![(scope, &instance.name)],
            None => halves.both().map(|(_, scope)| (scope, &unit.name)).collect(),
        };
        names.dedup_by_key(|(scope, _)| *scope);
        let generic = self.check_parameters(&halves);
        let halves = self.with_parameters(halves, generic, instance);
        let file_scope = |half: Option<(&Unit, ScopeId)>| half.map(|(_, scope)| scope);
        let specified_in = file_scope(halves.specification);
        let implemented_in = file_scope(halves.implementation);
        let outer = self.symbols.new_scope(specified_in.or(implemented_in).unwrap_or(UNIVERSE));
        let inner = self.symbols.new_scope(implemented_in.or(specified_in).unwrap_or(UNIVERSE));
        let of = match is_object {
            true => {
                self.symbols.types.intern(Type::Object(ObjectId(self.symbols.objects.len() as u32)))
            }
            false => Types::NOTHING,
        };
        let state = UnitState {
            name: instance.map_or(&unit.name, |(instance, _)| &instance.name),
            generic: generic.filter(|_| instance.is_none()),
            specification: halves.specification.map(|(unit, _)| unit),
            implementation: halves.implementation.map(|(unit, _)| unit),
            outer,
            inner,
            of,
            variables: Vec::new(),
            operations: Vec::new(),
        };
        let (owner, meaning, entity) = if is_object {
            let id = ObjectId(self.symbols.objects.len() as u32);
            self.symbols.objects.push(state);
            (Owner::Object(id), Meaning::Object(id), Entity::Object(id))
        } else {
            let id = ModuleId(self.symbols.modules.len() as u32);
            self.symbols.modules.push(state);
            (Owner::Module(id), Meaning::Module(id), Entity::Module(id))
        };
        for (unit, _) in halves.both() {
            self.symbols.declared.insert(unit.name.span, entity);
        }
        for (scope, name) in names {
            self.symbols.declared.insert(name.span, entity);
            self.symbols.declare(scope, &name.text, name.span, meaning);
        }
        self.collect_halves(owner);
    }

    /// Collects what is declared at the level of a file or in a half of an object type or module:
    /// constants, types and routines. What there is beside these is for others.
    pub fn collect_declarations(
        &mut self,
        scope: ScopeId,
        owner: Owner,
        declarations: &'t [Declaration],
    ) {
        for declaration in declarations {
            match &declaration.kind {
                DeclarationKind::Constant { name, value } => {
                    self.symbols.collect_constant(scope, name, value);
                }
                DeclarationKind::Type { name, definition } => {
                    self.symbols.collect_definition(scope, name, definition);
                }
                DeclarationKind::Routine(routine) if owner == Owner::File => {
                    self.symbols.collect_routine(scope, owner, routine);
                }
                _ => {}
            }
        }
    }

    /// Instance variables, whose types are not known yet.
    pub fn collect_instance(&mut self, object: ObjectId, scope: ScopeId, names: &[Name]) {
        for name in names {
            let kind = VariableKind::Instance(object);
            let variable = self.symbols.new_variable(name, kind, Types::UNKNOWN, Shape::Plain);
            self.symbols.objects[object.index()].variables.push(variable);
            self.symbols.declare(scope, &name.text, name.span, Meaning::Variable(variable));
        }
    }
}
