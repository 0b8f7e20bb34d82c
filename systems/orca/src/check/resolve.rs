//! The second pass: types, constants, headings and instance variables.

use super::facts::{Entity, Owner, RoutineId, VariableKind};
use super::scopes::{DefinitionId, Meaning, ScopeId};
use super::types::{FieldType, Shape, Type, TypeId, Types, VariantType};
use super::{Checker, DefinitionState};
use crate::diagnostics::{Code, Diagnostic};
use crate::tree::{DeclarationKind, Expression, Field, Index, Name, TypeKind, TypeSyntax, Variant};

/// Arrays, sets and bags within each other.
const DEEPEST_TYPE: u32 = 100;

/// Definitions that are resolved because of one another.
const LONGEST_CHAIN: usize = 50;

impl<'t> Checker<'t> {
    /// Resolves all that stands outside of routines.
    pub fn resolve_all(&mut self) {
        for definition in 0..self.definitions.len() {
            self.definition(DefinitionId(definition));
        }
        for constant in 0..self.constants.len() {
            self.constant(super::ConstantId(constant as u32));
        }
        self.check_instances();
        self.resolve_instances();
        for routine in 0..self.routines.len() {
            self.resolve_heading(RoutineId(routine as u32));
        }
        self.compare_headings();
        self.check_containment();
    }

    fn resolve_instances(&mut self) {
        for object in 0..self.objects.len() {
            let Some(unit) = self.objects[object].implementation else { continue };
            let (scope, ids) = (self.objects[object].inner, self.objects[object].variables.clone());
            let mut ids = ids.into_iter();
            for declaration in &unit.declarations {
                let DeclarationKind::Variable(variable) = &declaration.kind else { continue };
                let (of, shape) = self.resolve(scope, &variable.of);
                for id in ids.by_ref().take(variable.names.len()) {
                    self.variables[id.index()].of = of;
                    self.variables[id.index()].shape = shape.clone();
                }
            }
        }
    }

    /// The type that a name stands for, and the bounds of its variables.
    pub fn definition(&mut self, id: DefinitionId) -> (TypeId, Shape) {
        let definition = &self.definitions[id.0];
        let (name, syntax, scope) = (definition.name, definition.syntax, definition.scope);
        match definition.state.clone() {
            DefinitionState::Resolved(of, shape) => return (of, shape),
            DefinitionState::Resolving => {
                self.report_endless(name, "this type stands for itself");
                self.definitions[id.0].state =
                    DefinitionState::Resolved(Types::UNKNOWN, Shape::Plain);
                return (Types::UNKNOWN, Shape::Plain);
            }
            DefinitionState::Unresolved => {}
        }
        if !self.enter_definition(name) {
            return (Types::UNKNOWN, Shape::Plain);
        }
        let (of, shape) = self.resolve_definition(id, name, syntax, scope);
        self.resolving -= 1;
        self.definitions[id.0].state = DefinitionState::Resolved(of, shape.clone());
        self.declared.insert(name.span, Entity::Type(of));
        (of, shape)
    }

    /// Counts a definition that is being resolved; `false` if there are too many on the way, which
    /// is reported. Whoever gets `true` counts it off again.
    pub fn enter_definition(&mut self, name: &Name) -> bool {
        if self.resolving >= LONGEST_CHAIN {
            let message = format!("more than {LONGEST_CHAIN} definitions depend on each other");
            let diagnostic = Diagnostic::new(Code::Nesting, message, name.span, "one too many")
                .help("declare those first that others are made of");
            self.report(diagnostic);
            return false;
        }
        self.resolving += 1;
        true
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
            let of = self.types.declare(Type::Unknown);
            self.definitions[id.0].state = DefinitionState::Resolved(of, Shape::Plain);
            let resolved = self.own_type(scope, &name.text, &syntax.kind);
            self.types.define(of, resolved);
            (of, Shape::Plain)
        } else {
            self.definitions[id.0].state = DefinitionState::Resolving;
            let found = self.resolve(scope, syntax);
            match &self.definitions[id.0].state {
                DefinitionState::Resolved(of, shape) => (*of, shape.clone()),
                _ => found,
            }
        }
    }

    pub fn report_endless(&mut self, name: &Name, message: &str) {
        let help = "a set, a bag or an array may hold its own kind, and so may a graph by \
                    `nodename of`";
        let diagnostic = Diagnostic::new(Code::Endless, message, name.span, "has no end");
        self.report(diagnostic.help(help));
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
            let message = format!("`{}` is declared twice", name.text);
            let diagnostic =
                Diagnostic::new(Code::Twice, message, name.span, "declared again here")
                    .also(first.span, "declared here first")
                    .help("give one of them another name");
            self.report(diagnostic);
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
        if self.types.depth(of) > DEEPEST_TYPE {
            let message = format!("more than {DEEPEST_TYPE} arrays, sets or bags in each other");
            let diagnostic = Diagnostic::new(Code::Nesting, message, syntax.span, "one too many")
                .help("put a record between them");
            self.report(diagnostic);
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
                (self.types.intern(Type::Set(of)), Shape::Plain)
            }
            TypeKind::Bag(of) => {
                let of = self.element(scope, of);
                (self.types.intern(Type::Bag(of)), Shape::Plain)
            }
            TypeKind::NodeName(graph) => {
                let (of, _) = self.resolve(scope, graph);
                if !matches!(self.types.get(of), Type::Graph { .. } | Type::Unknown) {
                    let message = format!("`{}` is no graph", self.describe(of));
                    let diagnostic =
                        Diagnostic::new(Code::Kind, message, graph.span, "has no nodes")
                            .help("only a graph has nodes: `type G = graph ... nodes ... end;`");
                    self.report(diagnostic);
                    return (Types::UNKNOWN, Shape::Plain);
                }
                (self.types.intern(Type::NodeName(of)), Shape::Plain)
            }
            kind => {
                if let TypeKind::Enumeration(values) = kind {
                    let of = TypeId(self.types.count());
                    for (number, value) in values.iter().enumerate() {
                        let meaning = Meaning::Value(of, number as u32);
                        self.declare(scope, &value.text, value.span, meaning);
                    }
                }
                let id = self.types.declare(Type::Unknown);
                let name = match kind {
                    TypeKind::Enumeration(_) => "this enumeration",
                    TypeKind::Record(_) => "this record",
                    TypeKind::Union { .. } => "this union",
                    _ => "this graph",
                };
                let own = self.own_type(scope, name, kind);
                self.types.define(id, own);
                (id, Shape::Plain)
            }
        }
    }

    /// Type of the elements of a set or bag: anything but objects.
    fn element(&mut self, scope: ScopeId, syntax: &'t TypeSyntax) -> TypeId {
        let (of, _) = self.resolve(scope, syntax);
        if self.types.holds_objects(of) {
            let message = "objects are not put into sets and bags";
            let diagnostic = Diagnostic::new(Code::Shared, message, syntax.span, "has an object")
                .help("use an array of objects, which has a place for each");
            self.report(diagnostic);
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
            None => self.find(scope, &name.text, name.span),
        };
        let (of, shape) = match meaning {
            None => (Types::UNKNOWN, Shape::Plain),
            Some(Meaning::Basic(of)) => (of, Shape::Plain),
            Some(Meaning::Definition(id)) => self.definition(id),
            Some(meaning) if self.is_generic(meaning) => {
                self.report_generic(meaning, name);
                (Types::UNKNOWN, Shape::Plain)
            }
            Some(Meaning::Object(id)) => (self.objects[id.index()].of, Shape::Plain),
            Some(_) => {
                let message = format!("`{}` is no type", name.text);
                let diagnostic = Diagnostic::new(Code::Kind, message, name.span, "not a type")
                    .help("a type is declared by `type T = ...;` or `object implementation T;`");
                self.report(diagnostic);
                (Types::UNKNOWN, Shape::Plain)
            }
        };
        if bounds.is_empty() {
            return (of, shape);
        }
        let Type::Array { indices, .. } = self.types.get(of).clone() else {
            if of != Types::UNKNOWN {
                let message = format!("`{}` is no array, and has no bounds", self.describe(of));
                let diagnostic = Diagnostic::new(Code::Use, message, syntax.span, "no array")
                    .help("remove the bounds");
                self.report(diagnostic);
            }
            return (of, shape);
        };
        self.expect_count(syntax.span, "bounds", indices.len(), bounds.len());
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
            if !self.types.is_discrete(of) {
                let message = format!("`{}` cannot number the elements", self.describe(of));
                let diagnostic = Diagnostic::new(Code::Kind, message, span, "not an index").help(
                    "an array is indexed by integers, characters, truth values or enumerations",
                );
                self.report(diagnostic);
            }
            known.push(of);
        }
        if !all_bounds.is_empty() && all_bounds.len() < indices.len() {
            self.expect_count(of.span, "bounds", indices.len(), all_bounds.len());
        }
        let (of, shape) = self.resolve(scope, of);
        let plain = all_bounds.is_empty() && shape == Shape::Plain;
        let shape = match plain {
            true => Shape::Plain,
            false => Shape::Array { bounds: all_bounds, of: Box::new(shape) },
        };
        (self.types.intern(Type::Array { indices: known, of }), shape)
    }

    /// The scope of the names of others that a type or object refers to: that of a module.
    pub fn find_exported(&mut self, scope: ScopeId, module: &Name, name: &Name) -> Option<Meaning> {
        let meaning = self.find(scope, &module.text, module.span)?;
        if self.is_generic(meaning) {
            self.report_generic(meaning, module);
            return None;
        }
        let outer = match meaning {
            Meaning::Module(id) => self.unit(Owner::Module(id)).outer,
            Meaning::Object(id) => self.unit(Owner::Object(id)).outer,
            _ => {
                let message = format!("`{}` is no module", module.text);
                let diagnostic = Diagnostic::new(Code::Kind, message, module.span, "not a module")
                    .help("only modules and object types are named before a dot here");
                self.report(diagnostic);
                return None;
            }
        };
        let found = self.scopes[outer.0].names.get(&name.text).map(|(meaning, _)| *meaning);
        if found.is_none() {
            self.report_not_exported(outer, module, name);
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
    ) -> Vec<super::VariableId> {
        let (of, shape) = self.resolve(scope, syntax);
        let mut ids = Vec::new();
        for name in names {
            let id = self.new_variable(name, kind, of, shape.clone());
            self.declare(scope, &name.text, name.span, Meaning::Variable(id));
            ids.push(id);
        }
        ids
    }
}
