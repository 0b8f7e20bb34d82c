//! Symbols: what names stand for, and what is known of it. Passes add to them, one after the other.

use std::collections::BTreeMap;

use super::facts::{
    Accesses, ConstantId, Entity, ObjectId, Owner, RoutineId, Value, VariableFacts, VariableId,
    VariableKind,
};
use super::scopes::{DefinitionId, Meaning, ScopeId, Scopes};
use super::types::{Shape, TypeId, Types};
use super::uses::{AccessLog, AlternativeState};
use crate::diagnostics::{Code, Diagnostic};
use crate::source::Span;
use crate::tree::{
    Expression, ExpressionId, ExpressionKind, Generic, Instance, Name, Routine, RoutineKind,
    TypeKind, TypeSyntax, Unit,
};

/// Definitions that are resolved because of one another.
const LONGEST_CHAIN: usize = 50;

/// Everything that is known so far of what a program declares.
pub struct Symbols<'t> {
    pub types: Types,
    pub scopes: Scopes,
    pub definitions: Vec<Definition<'t>>,
    pub constants: Vec<ConstantState<'t>>,
    pub variables: Vec<VariableFacts>,
    pub routines: Vec<RoutineState<'t>>,
    pub objects: Vec<UnitState<'t>>,
    pub modules: Vec<UnitState<'t>>,
    /// The instances, each with the scope of its file.
    pub instances: Vec<(&'t Instance, ScopeId)>,
    /// Types of the expressions, by their numbers.
    pub typed: Vec<TypeId>,
    pub meanings: BTreeMap<ExpressionId, Entity>,
    pub declared: BTreeMap<Span, Entity>,
    pub log: AccessLog,
    /// Number of definitions being resolved, each because of the one before.
    pub resolving: usize,
    pub diagnostics: Vec<Diagnostic>,
}

/// A declaration `type name = ...`.
pub struct Definition<'t> {
    pub name: &'t Name,
    pub syntax: &'t TypeSyntax,
    pub scope: ScopeId,
    pub state: DefinitionState,
}

#[derive(Clone)]
pub enum DefinitionState {
    Unresolved,
    /// On the way: who meets it now has found a type that stands for itself.
    Resolving,
    Resolved(TypeId, Shape),
}

pub struct ConstantState<'t> {
    pub name: &'t Name,
    pub syntax: &'t Expression,
    pub scope: ScopeId,
    pub resolving: bool,
    pub resolved: Option<(TypeId, Option<Value>)>,
}

/// A routine. `scope` is where it is declared, `inner` that of its parameters and variables.
pub struct RoutineState<'t> {
    pub syntax: &'t Routine,
    pub owner: Owner,
    pub scope: ScopeId,
    pub inner: ScopeId,
    pub parameters: Vec<VariableId>,
    pub result: TypeId,
    pub resolved: bool,
    pub exported: bool,
    pub alternatives: Vec<AlternativeState>,
}

/// An object type or module. `outer` has the names that others see, `inner` all.
pub struct UnitState<'t> {
    pub name: &'t Name,
    /// Parameters, if it is generic and no instance.
    pub generic: Option<&'t Generic>,
    pub specification: Option<&'t Unit>,
    pub implementation: Option<&'t Unit>,
    pub outer: ScopeId,
    pub inner: ScopeId,
    pub of: TypeId,
    pub variables: Vec<VariableId>,
    pub operations: Vec<RoutineId>,
}

impl<'t> Symbols<'t> {
    /// Nothing of a program with so many expressions.
    pub fn new(expressions: u32) -> Self {
        Symbols {
            types: Types::new(),
            scopes: Scopes::new(),
            definitions: Vec::new(),
            constants: Vec::new(),
            variables: Vec::new(),
            routines: Vec::new(),
            objects: Vec::new(),
            modules: Vec::new(),
            instances: Vec::new(),
            typed: vec![Types::UNKNOWN; expressions as usize],
            meanings: BTreeMap::new(),
            declared: BTreeMap::new(),
            log: AccessLog::default(),
            resolving: 0,
            diagnostics: Vec::new(),
        }
    }

    /// Reports something that is wrong.
    pub fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// The written form of a type.
    pub fn describe(&self, id: TypeId) -> String {
        let names: Vec<String> =
            self.objects.iter().map(|object| object.name.text.clone()).collect();
        self.types.describe(id, &names)
    }

    /// A new variable, and its meaning at the place of its name.
    pub fn new_variable(
        &mut self,
        name: &Name,
        kind: VariableKind,
        of: TypeId,
        shape: Shape,
    ) -> VariableId {
        let id = VariableId(self.variables.len() as u32);
        let (name, span, accesses) = (name.text.clone(), name.span, Accesses::default());
        self.variables.push(VariableFacts { name, span, kind, of, shape, accesses });
        self.declared.insert(span, Entity::Variable(id));
        id
    }

    /// A new scope inside of another one.
    pub fn new_scope(&mut self, parent: ScopeId) -> ScopeId {
        self.scopes.add(parent)
    }

    /// Adds a name to a scope; a second one of the same name is reported, and not added.
    pub fn declare(&mut self, scope: ScopeId, name: &str, span: Span, meaning: Meaning) {
        if let Err(first) = self.scopes.insert(scope, name, span, meaning) {
            self.report_twice(name, span, first);
        }
    }

    /// The meaning of a name that is used; an unknown one is reported.
    pub fn find(&mut self, scope: ScopeId, name: &str, span: Span) -> Option<Meaning> {
        let found = self.scopes.look_up(scope, name);
        if found.is_none() {
            self.report_unknown(scope, name, span);
        }
        found.filter(|meaning| *meaning != Meaning::Wrong)
    }

    pub fn collect_constant(&mut self, scope: ScopeId, name: &'t Name, syntax: &'t Expression) {
        let id = ConstantId(self.constants.len() as u32);
        let constant = ConstantState { name, syntax, scope, resolving: false, resolved: None };
        self.constants.push(constant);
        self.declared.insert(name.span, Entity::Constant(id));
        self.declare(scope, &name.text, name.span, Meaning::Constant(id));
    }

    pub fn collect_definition(
        &mut self,
        scope: ScopeId,
        name: &'t Name,
        syntax: &'t TypeSyntax,
    ) -> DefinitionId {
        let id = DefinitionId(self.definitions.len());
        let state = DefinitionState::Unresolved;
        self.definitions.push(Definition { name, syntax, scope, state });
        self.declare(scope, &name.text, name.span, Meaning::Definition(id));
        if let TypeKind::Enumeration(values) = &syntax.kind {
            for (number, value) in values.iter().enumerate() {
                let meaning = Meaning::Defined(id, number as u32);
                self.declare(scope, &value.text, value.span, meaning);
            }
        }
        id
    }

    /// Adds a routine, and its name unless it is an operation, which is named with its object.
    pub fn collect_routine(
        &mut self,
        scope: ScopeId,
        owner: Owner,
        syntax: &'t Routine,
    ) -> RoutineId {
        let id = RoutineId(self.routines.len() as u32);
        let inner = self.new_scope(scope);
        self.routines.push(RoutineState {
            syntax,
            owner,
            scope,
            inner,
            parameters: Vec::new(),
            result: Types::NOTHING,
            resolved: false,
            exported: true,
            alternatives: Vec::new(),
        });
        self.declared.insert(syntax.name.span, Entity::Routine(id));
        if syntax.kind != RoutineKind::Operation {
            self.declare(scope, &syntax.name.text, syntax.name.span, Meaning::Routine(id));
        }
        id
    }

    pub fn unit(&self, owner: Owner) -> &UnitState<'t> {
        match owner {
            Owner::Object(id) => &self.objects[id.index()],
            // A file is no unit, and nobody asks for it.
            Owner::Module(id) => &self.modules[id.index()],
            Owner::File => unreachable!("a file has no halves"),
        }
    }

    /// An operation of an object type, exported or not.
    pub fn operation(&self, object: ObjectId, name: &str) -> Option<RoutineId> {
        let mut operations = self.objects[object.index()].operations.iter().copied();
        operations.find(|id| self.routines[id.index()].syntax.name.text == name)
    }

    /// True for a variable that an object has.
    pub fn is_instance(&self, id: VariableId) -> bool {
        matches!(self.variables[id.index()].kind, VariableKind::Instance(_))
    }

    /// True for what is generic, which is neither a type nor has names for others: its instances
    /// are, and have.
    pub fn is_generic(&self, meaning: Meaning) -> bool {
        match meaning {
            Meaning::Object(id) => self.objects[id.index()].generic.is_some(),
            Meaning::Module(id) => self.modules[id.index()].generic.is_some(),
            _ => false,
        }
    }

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

    /// Counts a definition that is being resolved; `false` if there are too many on the way, which
    /// is reported. A caller that gets `true` counts it off again.
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
}
