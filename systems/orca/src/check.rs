//! The checker: names, types, modes, and what operations do to their objects.
//!
//! Names of files, modules and object types are collected first, so that their order does not
//! matter; then types, constants and headings are resolved; then statements are checked, one
//! routine after another; last, what needs all of them: reads, writes and their frequencies.
//! What was reported once has the type [`Type::Unknown`], which agrees with all, so that one error
//! is one diagnostic.

use std::collections::BTreeMap;

use crate::diagnostics::{Diagnostic, sorted};
use crate::source::Span;
use crate::tree::{
    Expression, ExpressionId, File, Generic, Instance, Name, Routine, TypeSyntax, Unit,
};

mod aggregates;
mod assignable;
mod builtins;
mod calls;
mod collect;
mod constants;
mod effects;
mod expressions;
mod facts;
mod imports;
mod instances;
mod names;
mod operators;
mod resolve;
mod returns;
mod routines;
mod scopes;
mod statements;
mod types;
mod units;

pub use builtins::Builtin;
pub use facts::{
    Accesses, AlternativeFacts, ConstantFacts, ConstantId, Effect, Entity, Facts, ModuleFacts,
    ModuleId, ObjectFacts, ObjectId, Owner, RoutineFacts, RoutineId, Value, VariableFacts,
    VariableId, VariableKind,
};
pub use types::{FieldType, Shape, Type, TypeId, Types, VariantType};

use effects::AccessLog;
use scopes::{Scope, ScopeId};

/// Checks the files of one program, whose expressions have numbers below `expressions`. The facts
/// are those of the whole tree only if there is no diagnostic.
pub fn check(files: &[File], expressions: u32) -> (Facts, Vec<Diagnostic>) {
    let mut checker = Checker::new(expressions);
    checker.collect(files);
    checker.resolve_all();
    checker.check_bodies();
    checker.finish()
}

/// The checker's state: everything known so far.
struct Checker<'t> {
    types: Types,
    scopes: Vec<Scope>,
    definitions: Vec<Definition<'t>>,
    constants: Vec<ConstantState<'t>>,
    variables: Vec<VariableFacts>,
    routines: Vec<RoutineState<'t>>,
    objects: Vec<UnitState<'t>>,
    modules: Vec<UnitState<'t>>,
    /// The instances, each with the scope of its file.
    instances: Vec<(&'t Instance, ScopeId)>,
    expressions: Vec<TypeId>,
    meanings: BTreeMap<ExpressionId, Entity>,
    declared: BTreeMap<Span, Entity>,
    log: AccessLog,
    /// Number of definitions being resolved, each because of the one before.
    resolving: usize,
    diagnostics: Vec<Diagnostic>,
}

/// A declaration `type name = ...`.
struct Definition<'t> {
    name: &'t Name,
    syntax: &'t TypeSyntax,
    scope: ScopeId,
    state: DefinitionState,
}

#[derive(Clone)]
enum DefinitionState {
    Unresolved,
    /// On the way: who meets it now has found a type that stands for itself.
    Resolving,
    Resolved(TypeId, Shape),
}

struct ConstantState<'t> {
    name: &'t Name,
    syntax: &'t Expression,
    scope: ScopeId,
    resolving: bool,
    resolved: Option<(TypeId, Option<Value>)>,
}

/// A routine. `scope` is where it is declared, `inner` that of its parameters and variables.
struct RoutineState<'t> {
    syntax: &'t Routine,
    owner: Owner,
    scope: ScopeId,
    inner: ScopeId,
    parameters: Vec<VariableId>,
    result: TypeId,
    resolved: bool,
    exported: bool,
    alternatives: Vec<effects::AlternativeState>,
}

/// An object type or module. `outer` has the names that others see, `inner` all.
struct UnitState<'t> {
    name: &'t Name,
    /// Parameters, if it is generic and no instance.
    generic: Option<&'t Generic>,
    specification: Option<&'t Unit>,
    implementation: Option<&'t Unit>,
    outer: ScopeId,
    inner: ScopeId,
    of: TypeId,
    variables: Vec<VariableId>,
    operations: Vec<RoutineId>,
}

impl<'t> Checker<'t> {
    fn new(expressions: u32) -> Self {
        Checker {
            types: Types::new(),
            scopes: vec![scopes::universe()],
            definitions: Vec::new(),
            constants: Vec::new(),
            variables: Vec::new(),
            routines: Vec::new(),
            objects: Vec::new(),
            modules: Vec::new(),
            instances: Vec::new(),
            expressions: vec![Types::UNKNOWN; expressions as usize],
            meanings: BTreeMap::new(),
            declared: BTreeMap::new(),
            log: AccessLog::default(),
            resolving: 0,
            diagnostics: Vec::new(),
        }
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// The written form of a type.
    fn describe(&self, id: TypeId) -> String {
        let names: Vec<String> =
            self.objects.iter().map(|object| object.name.text.clone()).collect();
        self.types.describe(id, &names)
    }

    /// A new variable, and its meaning at the place of its name.
    fn new_variable(
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

    fn finish(mut self) -> (Facts, Vec<Diagnostic>) {
        let alternatives = self.decide_effects();
        self.estimate_accesses(&alternatives);
        let main = self.main();
        let routines = self.routine_facts(alternatives);
        let objects = self.object_facts();
        let modules = self.modules.iter();
        let modules =
            modules.map(|unit| ModuleFacts { name: unit.name.text.clone(), span: unit.name.span });
        let constants = self.constants.iter().map(|constant| {
            let (of, value) = constant.resolved.clone().unwrap_or((Types::UNKNOWN, None));
            ConstantFacts { name: constant.name.text.clone(), span: constant.name.span, of, value }
        });
        let facts = Facts {
            modules: modules.collect(),
            constants: constants.collect(),
            types: self.types,
            variables: self.variables,
            routines,
            objects,
            main,
            declared: self.declared,
            meanings: self.meanings,
            expressions: self.expressions,
        };
        (facts, sorted(self.diagnostics))
    }

    fn routine_facts(&self, alternatives: Vec<Vec<AlternativeFacts>>) -> Vec<RoutineFacts> {
        let routines = self.routines.iter().zip(alternatives);
        let facts = routines.map(|(routine, alternatives)| RoutineFacts {
            name: routine.syntax.name.text.clone(),
            span: routine.syntax.name.span,
            kind: routine.syntax.kind,
            owner: routine.owner,
            parameters: routine.parameters.clone(),
            result: routine.result,
            exported: routine.exported,
            alternatives,
        });
        facts.collect()
    }

    fn object_facts(&self) -> Vec<ObjectFacts> {
        let objects = self.objects.iter().map(|unit| ObjectFacts {
            name: unit.name.text.clone(),
            span: unit.name.span,
            generic: unit.generic.is_some(),
            of: unit.of,
            variables: unit.variables.clone(),
            operations: unit.operations.clone(),
            accesses: self.accesses_of_type(unit.of),
        });
        objects.collect()
    }
}

#[cfg(test)]
mod tests;
