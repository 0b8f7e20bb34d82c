//! The checker: names, types, modes, and what operations do to their objects.
//!
//! Names of files, modules and object types are collected first, so that their order does not
//! matter; then types, constants and headings are resolved; then statements are checked, one
//! routine after another; last, what needs all of them: reads, writes and their frequencies.
//! An expression that was reported once has the type [`Type::Unknown`], which agrees with all, so
//! that one error is one diagnostic.

mod aggregates;
mod assignable;
mod builtin;
mod builtins;
mod calls;
mod collect;
mod constants;
mod containment;
mod effects;
mod expressions;
mod facts;
mod headings;
mod imports;
mod instances;
mod names;
mod operators;
mod reports;
mod resolve;
mod returns;
mod routines;
mod scopes;
mod statements;
mod symbols;
mod types;
mod units;
mod uses;

pub use builtin::Builtin;
pub use facts::{
    Accesses, AlternativeFacts, ConstantFacts, ConstantId, Effect, Entity, Facts, ModuleFacts,
    ModuleId, ObjectFacts, ObjectId, Owner, RoutineFacts, RoutineId, Value, VariableFacts,
    VariableId, VariableKind,
};
pub use types::{FieldType, Shape, Type, TypeId, Types, VariantType};

use crate::diagnostics::{Diagnostic, sorted};
use crate::tree::File;
use collect::Collector;
use effects::{accesses_of_type, decide_effects, estimate_accesses};
use resolve::Resolver;
use symbols::Symbols;

/// Checks the files of one program, whose expressions have numbers below `expressions`. The facts
/// are those of the whole tree only if there is no diagnostic.
pub fn check(files: &[File], expressions: u32) -> (Facts, Vec<Diagnostic>) {
    let mut symbols = Symbols::new(expressions);
    Collector { symbols: &mut symbols }.collect(files);
    Resolver { symbols: &mut symbols }.resolve_all();
    routines::check_bodies(&mut symbols);
    let alternatives = decide_effects(&mut symbols);
    estimate_accesses(&mut symbols.variables, &symbols.log, &alternatives);
    let main = routines::main(&mut symbols);
    facts(symbols, alternatives, main)
}

/// All that was found out, for others.
fn facts(
    symbols: Symbols<'_>,
    alternatives: Vec<Vec<AlternativeFacts>>,
    main: Option<RoutineId>,
) -> (Facts, Vec<Diagnostic>) {
    let modules = symbols.modules.iter();
    let modules =
        modules.map(|unit| ModuleFacts { name: unit.name.text.clone(), span: unit.name.span });
    let constants = symbols.constants.iter().map(|constant| {
        let (of, value) = constant.resolved.clone().unwrap_or((Types::UNKNOWN, None));
        ConstantFacts { name: constant.name.text.clone(), span: constant.name.span, of, value }
    });
    let facts = Facts {
        modules: modules.collect(),
        constants: constants.collect(),
        routines: routine_facts(&symbols, alternatives),
        objects: object_facts(&symbols),
        types: symbols.types,
        variables: symbols.variables,
        main,
        declared: symbols.declared,
        meanings: symbols.meanings,
        expressions: symbols.typed,
    };
    (facts, sorted(symbols.diagnostics))
}

fn routine_facts(
    symbols: &Symbols<'_>,
    alternatives: Vec<Vec<AlternativeFacts>>,
) -> Vec<RoutineFacts> {
    let routines = symbols.routines.iter().zip(alternatives);
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

fn object_facts(symbols: &Symbols<'_>) -> Vec<ObjectFacts> {
    let objects = symbols.objects.iter().map(|unit| ObjectFacts {
        name: unit.name.text.clone(),
        span: unit.name.span,
        generic: unit.generic.is_some(),
        of: unit.of,
        variables: unit.variables.clone(),
        operations: unit.operations.clone(),
        accesses: accesses_of_type(&symbols.variables, &symbols.types, unit.of),
    });
    objects.collect()
}
