//! The second pass: types, constants, headings and instance variables.

use super::containment::check_containment;
use super::facts::{ConstantId, Entity, Owner, RoutineId, VariableId, VariableKind};
use super::scopes::{DefinitionId, Meaning, ScopeId};
use super::symbols::{DefinitionState, Symbols};
use super::types::{FieldType, Shape, Type, TypeId, Types, VariantType};
use crate::diagnostics::{Code, Diagnostic};
use crate::tree::{DeclarationKind, Expression, Field, Index, Name, TypeKind, TypeSyntax, Variant};

/// Arrays, sets and bags within each other.
const DEEPEST_TYPE: u32 = 100;

/// The pass that finds out what types, constants and headings stand for. What it meets on its way
/// it resolves first.
pub struct Resolver<'s, 't> {
    pub symbols: &'s mut Symbols<'t>,
}

impl<'t> Resolver<'_, 't> {
    /// Resolves all that stands outside of routines.
    pub fn resolve_all(&mut self) {
        for definition in 0..self.symbols.definitions.len() {
            self.definition(DefinitionId(definition));
        }
        for constant in 0..self.symbols.constants.len() {
            self.constant(ConstantId(constant as u32));
        }
        self.check_instances();
        self.resolve_instances();
        for routine in 0..self.symbols.routines.len() {
            self.resolve_heading(RoutineId(routine as u32));
        }
        self.compare_headings();
        check_containment(self.symbols);
    }

    fn resolve_instances(&mut self) {
        for object in 0..self.symbols.objects.len() {
            let Some(unit) = self.symbols.objects[object].implementation else { continue };
            let (scope, ids) = (
                self.symbols.objects[object].inner,
                self.symbols.objects[object].variables.clone(),
            );
            let mut ids = ids.into_iter();
            for declaration in &unit.declarations {
                let DeclarationKind::Variable(variable) = &declaration.kind else { continue };
                let (of, shape) = self.resolve(scope, &variable.of);
                for id in ids.by_ref().take(variable.names.len()) {
                    self.symbols.variables[id.index()].of = of;
                    self.symbols.variables[id.index()].shape = shape.clone();
                }
            }
        }
    }

    /// The type that a name stands for, and the bounds of its variables.
    pub fn definition(&mut self, id: DefinitionId) -> (TypeId, Shape) {
        let definition = &self.symbols.definitions[id.0];
        let (name, syntax, scope) = (definition.name, definition.syntax, definition.scope);
        match definition.state.clone() {
            DefinitionState::Resolved(of, shape) => return (of, shape),
            DefinitionState::Resolving => {
                self.symbols.report_endless(name, "this type stands for itself");
                self.symbols.definitions[id.0].state =
                    DefinitionState::Resolved(Types::UNKNOWN, Shape::Plain);
                return (Types::UNKNOWN, Shape::Plain);
            }
            DefinitionState::Unresolved => {}
        }
        if !self.symbols.enter_definition(name) {
            return (Types::UNKNOWN, Shape::Plain);
        }
        let (of, shape) = self.resolve_definition(id, name, syntax, scope);
        self.symbols.resolving -= 1;
        self.symbols.definitions[id.0].state = DefinitionState::Resolved(of, shape.clone());
        self.symbols.declared.insert(name.span, Entity::Type(of));
        (of, shape)
    }

    fn resolve_definition(
        &mut self,
        id: DefinitionId,
        name: &Name,
        syntax: &'t TypeSyntax,
        scope: ScopeId,
    ) -> (TypeId, Shape) {
        let own = matches!(
            syntax.kind,
            TypeKind::Enumeration(_)
                | TypeKind::Record(_)
                | TypeKind::Union { .. }
                | TypeKind::Graph { .. }
        );
        if own {
            // Its fields may name it: its number is known before they are.
            let of = self.symbols.types.declare(Type::Unknown);
            self.symbols.definitions[id.0].state = DefinitionState::Resolved(of, Shape::Plain);
            let resolved = self.own_type(scope, &name.text, &syntax.kind);
            self.symbols.types.define(of, resolved);
            (of, Shape::Plain)
        } else {
            self.symbols.definitions[id.0].state = DefinitionState::Resolving;
            let found = self.resolve(scope, syntax);
            match &self.symbols.definitions[id.0].state {
                DefinitionState::Resolved(of, shape) => (*of, shape.clone()),
                _ => found,
            }
        }
    }

    /// A type that is another one wherever it is written.
    fn own_type(&mut self, scope: ScopeId, name: &str, kind: &'t TypeKind) -> Type {
        let name = name.to_owned();
        match kind {
            TypeKind::Enumeration(values) => {
                let values = values.iter().map(|value| value.text.clone()).collect();
                Type::Enumeration { name, values }
            }
            TypeKind::Record(fields) => Type::Record { name, fields: self.fields(scope, fields) },
            TypeKind::Graph { fields, nodes } => {
                let (fields, nodes) = (self.fields(scope, fields), self.fields(scope, nodes));
                Type::Graph { name, fields, nodes }
            }
            TypeKind::Union { tag, of, variants } => {
                let (of, _) = self.resolve(scope, of);
                let variants = self.variants(scope, of, tag, variants);
                Type::Union { name, tag: tag.text.clone(), of, variants }
            }
            _ => Type::Unknown,
        }
    }

    fn fields(&mut self, scope: ScopeId, fields: &'t [Field]) -> Vec<FieldType> {
        let mut known: Vec<FieldType> = Vec::new();
        let mut names: Vec<&Name> = Vec::new();
        for field in fields {
            let (of, shape) = self.resolve(scope, &field.of);
            for name in &field.names {
                self.check_field(&names, name);
                names.push(name);
                known.push(FieldType { name: name.text.clone(), of, shape: shape.clone() });
            }
        }
        known
    }

    fn check_field(&mut self, names: &[&Name], name: &Name) {
        if let Some(first) = names.iter().find(|first| first.text == name.text) {
            self.symbols.report_twice(&name.text, name.span, first.span);
        }
    }

    fn variants(
        &mut self,
        scope: ScopeId,
        tag_type: TypeId,
        tag: &'t Name,
        variants: &'t [Variant],
    ) -> Vec<VariantType> {
        let mut known = Vec::new();
        let mut names = vec![tag];
        for variant in variants {
            let (of, shape) = self.resolve(scope, &variant.of);
            self.check_field(&names, &variant.name);
            names.push(&variant.name);
            let choice = self.choice(scope, &variant.choice, tag_type).unwrap_or_default();
            known.push(VariantType { choice, name: variant.name.text.clone(), of, shape });
        }
        known
    }

    /// The type that is written, and the bounds with which its variables begin.
    pub fn resolve(&mut self, scope: ScopeId, syntax: &'t TypeSyntax) -> (TypeId, Shape) {
        let (of, shape) = self.resolve_any(scope, syntax);
        if self.symbols.types.depth(of) > DEEPEST_TYPE {
            let message = format!("more than {DEEPEST_TYPE} arrays, sets or bags in each other");
            let diagnostic = Diagnostic::new(Code::Nesting, message, syntax.span, "one too many")
                .help("put a record between them");
            self.symbols.report(diagnostic);
            return (Types::UNKNOWN, Shape::Plain);
        }
        (of, shape)
    }

    fn resolve_any(&mut self, scope: ScopeId, syntax: &'t TypeSyntax) -> (TypeId, Shape) {
        match &syntax.kind {
            TypeKind::Named { module, name, bounds } => {
                self.named(scope, syntax, (module.as_ref(), name), bounds)
            }
            TypeKind::Array { indices, of } => self.array(scope, indices, of),
            TypeKind::Set(of) => {
                let of = self.element(scope, of);
                (self.symbols.types.intern(Type::Set(of)), Shape::Plain)
            }
            TypeKind::Bag(of) => {
                let of = self.element(scope, of);
                (self.symbols.types.intern(Type::Bag(of)), Shape::Plain)
            }
            TypeKind::NodeName(graph) => {
                let (of, _) = self.resolve(scope, graph);
                if !matches!(self.symbols.types.get(of), Type::Graph { .. } | Type::Unknown) {
                    let message = format!("`{}` is no graph", self.symbols.describe(of));
                    let diagnostic =
                        Diagnostic::new(Code::Kind, message, graph.span, "has no nodes")
                            .help("only a graph has nodes: `type G = graph ... nodes ... end;`");
                    self.symbols.report(diagnostic);
                    return (Types::UNKNOWN, Shape::Plain);
                }
                (self.symbols.types.intern(Type::NodeName(of)), Shape::Plain)
            }
            kind => {
                if let TypeKind::Enumeration(values) = kind {
                    let of = TypeId(self.symbols.types.count());
                    for (number, value) in values.iter().enumerate() {
                        let meaning = Meaning::Value(of, number as u32);
                        self.symbols.declare(scope, &value.text, value.span, meaning);
                    }
                }
                let id = self.symbols.types.declare(Type::Unknown);
                let name = match kind {
                    TypeKind::Enumeration(_) => "this enumeration",
                    TypeKind::Record(_) => "this record",
                    TypeKind::Union { .. } => "this union",
                    _ => "this graph",
                };
                let own = self.own_type(scope, name, kind);
                self.symbols.types.define(id, own);
                (id, Shape::Plain)
            }
        }
    }

    /// Type of the elements of a set or bag: anything but objects.
    fn element(&mut self, scope: ScopeId, syntax: &'t TypeSyntax) -> TypeId {
        let (of, _) = self.resolve(scope, syntax);
        if self.symbols.types.holds_objects(of) {
            let message = "objects are not put into sets and bags";
            let diagnostic = Diagnostic::new(Code::Shared, message, syntax.span, "has an object")
                .help("use an array of objects, which has a place for each");
            self.symbols.report(diagnostic);
        }
        of
    }

    fn named(
        &mut self,
        scope: ScopeId,
        syntax: &TypeSyntax,
        (module, name): (Option<&Name>, &Name),
        bounds: &'t [(Expression, Expression)],
    ) -> (TypeId, Shape) {
        let meaning = match module {
            Some(module) => self.find_exported(scope, module, name),
            None => self.symbols.find(scope, &name.text, name.span),
        };
        let (of, shape) = match meaning {
            None => (Types::UNKNOWN, Shape::Plain),
            Some(Meaning::Basic(of)) => (of, Shape::Plain),
            Some(Meaning::Definition(id)) => self.definition(id),
            Some(meaning) if self.symbols.is_generic(meaning) => {
                self.symbols.report_generic(meaning, name);
                (Types::UNKNOWN, Shape::Plain)
            }
            Some(Meaning::Object(id)) => (self.symbols.objects[id.index()].of, Shape::Plain),
            Some(_) => {
                let message = format!("`{}` is no type", name.text);
                let diagnostic = Diagnostic::new(Code::Kind, message, name.span, "not a type")
                    .help("a type is declared by `type T = ...;` or `object implementation T;`");
                self.symbols.report(diagnostic);
                (Types::UNKNOWN, Shape::Plain)
            }
        };
        if bounds.is_empty() {
            return (of, shape);
        }
        let Type::Array { indices, .. } = self.symbols.types.get(of).clone() else {
            if of != Types::UNKNOWN {
                let message =
                    format!("`{}` is no array, and has no bounds", self.symbols.describe(of));
                let diagnostic = Diagnostic::new(Code::Use, message, syntax.span, "no array")
                    .help("remove the bounds");
                self.symbols.report(diagnostic);
            }
            return (of, shape);
        };
        self.symbols.expect_count(syntax.span, "bounds", indices.len(), bounds.len());
        for ((first, last), index) in bounds.iter().zip(&indices) {
            self.expect_in(scope, first, *index);
            self.expect_in(scope, last, *index);
        }
        let of_elements = match shape {
            Shape::Array { of, .. } => of,
            Shape::Plain => Box::new(Shape::Plain),
        };
        (of, Shape::Array { bounds: bounds.to_vec(), of: of_elements })
    }

    fn array(
        &mut self,
        scope: ScopeId,
        indices: &'t [Index],
        of: &'t TypeSyntax,
    ) -> (TypeId, Shape) {
        let mut known = Vec::new();
        let mut all_bounds = Vec::new();
        for index in indices {
            let (of, span) = match index {
                Index::Type(syntax) => (self.resolve(scope, syntax).0, syntax.span),
                Index::Bounds(first, last) => {
                    let of = self.infer_in(scope, first);
                    self.expect_in(scope, last, of);
                    all_bounds.push((first.clone(), last.clone()));
                    (of, first.span)
                }
            };
            if !self.symbols.types.is_discrete(of) {
                let message = format!("`{}` cannot number the elements", self.symbols.describe(of));
                let diagnostic = Diagnostic::new(Code::Kind, message, span, "not an index").help(
                    "an array is indexed by integers, characters, truth values or enumerations",
                );
                self.symbols.report(diagnostic);
            }
            known.push(of);
        }
        if !all_bounds.is_empty() && all_bounds.len() < indices.len() {
            self.symbols.expect_count(of.span, "bounds", indices.len(), all_bounds.len());
        }
        let (of, shape) = self.resolve(scope, of);
        let plain = all_bounds.is_empty() && shape == Shape::Plain;
        let shape = match plain {
            true => Shape::Plain,
            false => Shape::Array { bounds: all_bounds, of: Box::new(shape) },
        };
        (self.symbols.types.intern(Type::Array { indices: known, of }), shape)
    }

    /// The scope of the names of others that a type or object refers to: that of a module.
    pub fn find_exported(&mut self, scope: ScopeId, module: &Name, name: &Name) -> Option<Meaning> {
        let meaning = self.symbols.find(scope, &module.text, module.span)?;
        if self.symbols.is_generic(meaning) {
            self.symbols.report_generic(meaning, module);
            return None;
        }
        let outer = match meaning {
            Meaning::Module(id) => self.symbols.unit(Owner::Module(id)).outer,
            Meaning::Object(id) => self.symbols.unit(Owner::Object(id)).outer,
            _ => {
                let message = format!("`{}` is no module", module.text);
                let diagnostic = Diagnostic::new(Code::Kind, message, module.span, "not a module")
                    .help("only modules and object types are named before a dot here");
                self.symbols.report(diagnostic);
                return None;
            }
        };
        let found = self.symbols.scopes.names(outer).get(&name.text).map(|(meaning, _)| *meaning);
        if found.is_none() {
            self.symbols.report_not_exported(outer, module, name);
        }
        found.filter(|meaning| *meaning != Meaning::Wrong)
    }

    /// A variable of a type that is written.
    pub fn declare_variables(
        &mut self,
        scope: ScopeId,
        names: &'t [Name],
        syntax: &'t TypeSyntax,
        kind: VariableKind,
    ) -> Vec<VariableId> {
        let (of, shape) = self.resolve(scope, syntax);
        let mut ids = Vec::new();
        for name in names {
            let id = self.symbols.new_variable(name, kind, of, shape.clone());
            self.symbols.declare(scope, &name.text, name.span, Meaning::Variable(id));
            ids.push(id);
        }
        ids
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
}
