//! Facts that need all routines: reads and writes of operations, and how often each object is used
//! (thesis 7.1.2).

use super::facts::VariableKind;
use super::facts::{Accesses, AlternativeFacts, Effect, RoutineId, VariableFacts, VariableId};
use super::symbols::{RoutineState, Symbols};
use super::types::{TypeId, Types};
use super::uses::AccessLog;
use crate::diagnostics::{Code, Diagnostic};

/// Objects within objects, and processes that hand objects on, are followed so far. Beyond, what
/// cannot be told is a write.
const DEEPEST: u32 = 200;

impl Accesses {
    fn plus(self, other: Accesses, times: u64) -> Accesses {
        Accesses {
            reads: self.reads.saturating_add(scaled(other.reads, times)),
            writes: self.writes.saturating_add(scaled(other.writes, times)),
        }
    }
}

/// Operations, each of which reads or writes.
struct Effects<'s, 't> {
    routines: &'s [RoutineState<'t>],
    /// True if an operation may write, by routine; `None` if that is not decided yet.
    writes: Vec<Option<bool>>,
}

/// Decides for each alternative of each operation whether it reads or writes. What operations on
/// objects within the object do is known when theirs is.
pub fn decide_effects(symbols: &mut Symbols<'_>) -> Vec<Vec<AlternativeFacts>> {
    let routines = &symbols.routines;
    let mut effects = Effects { routines, writes: vec![None; routines.len()] };
    for routine in 0..routines.len() {
        effects.decide(RoutineId(routine as u32), 0);
    }
    let facts = routines.iter().map(|routine| effects.alternatives(routine)).collect();
    symbols.diagnostics.extend(effects.check_nested());
    facts
}

impl Effects<'_, '_> {
    /// True if an operation may write. One that is met while it is being decided does, for all that
    /// can be told: object types that contain each other are reported elsewhere.
    fn decide(&mut self, id: RoutineId, depth: u32) -> bool {
        if let Some(writes) = self.writes[id.index()] {
            return writes;
        }
        if depth > DEEPEST {
            return true;
        }
        self.writes[id.index()] = Some(true);
        let alternatives = &self.routines[id.index()].alternatives;
        let mut writes = alternatives.iter().any(|alternative| alternative.effect.writes);
        for alternative in alternatives {
            for (nested, _) in &alternative.effect.nested {
                writes |= self.decide(*nested, depth + 1);
            }
        }
        self.writes[id.index()] = Some(writes);
        writes
    }

    fn alternatives(&self, routine: &RoutineState<'_>) -> Vec<AlternativeFacts> {
        let facts = routine.alternatives.iter().map(|alternative| {
            let effect = &alternative.effect;
            let mut nested = effect.nested.iter();
            let writes =
                effect.writes || nested.any(|(id, _)| self.writes[id.index()] != Some(false));
            let effect = if writes { Effect::Write } else { Effect::Read };
            AlternativeFacts { condition: alternative.condition.clone(), effect }
        });
        facts.collect()
    }

    /// Diagnostics for operations on objects within an object that would wait in its middle, or
    /// change it in a guard.
    fn check_nested(&self) -> Vec<Diagnostic> {
        let mut waiting = Vec::new();
        let mut changing = Vec::new();
        for routine in self.routines {
            for alternative in &routine.alternatives {
                let effect = &alternative.effect;
                for (place, (nested, span)) in effect.nested.iter().enumerate() {
                    let operation = &self.routines[nested.index()];
                    let guarded = operation.alternatives.iter().any(|one| one.condition.is_some());
                    if guarded {
                        waiting.push(*span);
                    } else if place < effect.in_condition
                        && self.writes[nested.index()] == Some(true)
                    {
                        changing.push(*span);
                    }
                }
            }
        }
        let waiting = waiting.into_iter().map(|span| {
            let message = "this operation may wait in the middle of another one";
            Diagnostic::new(Code::Guard, message, span, "has a guard")
                .help("an operation waits only at its beginning; put the condition into its guard")
        });
        let changing = changing.into_iter().map(|span| {
            let message = "a guard changes the object";
            Diagnostic::new(Code::GuardEffect, message, span, "changes it")
                .help("a guard is tried many times; change the object between `do` and `od`")
        });
        waiting.chain(changing).collect()
    }
}

/// Estimates how often each object is read and written.
pub fn estimate_accesses(
    variables: &mut [VariableFacts],
    log: &AccessLog,
    alternatives: &[Vec<AlternativeFacts>],
) {
    let count = variables.len();
    let mut own = vec![Accesses::default(); count];
    for (variable, operation, times) in &log.operations {
        let effects = alternatives[operation.index()].iter().map(|one| one.effect);
        let one = Accesses {
            reads: once(effects.clone().any(|effect| effect == Effect::Read)),
            writes: once(effects.clone().any(|effect| effect == Effect::Write)),
        };
        let sum = &mut own[variable.index()];
        *sum = sum.plus(one, *times);
    }
    let mut passed = vec![Vec::new(); count];
    for (variable, parameter, times) in &log.passed {
        passed[variable.index()].push((*parameter, *times));
    }
    let mut estimates: Vec<Option<Accesses>> = vec![None; count];
    for (number, variable) in variables.iter_mut().enumerate() {
        variable.accesses = estimate(number, (&own, &passed), &mut estimates, 0);
    }
}

/// Sum over the variables of an object type. Variables that parameters share are counted where
/// they are declared.
pub fn accesses_of_type(variables: &[VariableFacts], types: &Types, of: TypeId) -> Accesses {
    let mut sum = Accesses::default();
    for variable in variables {
        let parameter = matches!(variable.kind, VariableKind::Parameter(_));
        if !parameter && types.element_of(variable.of) == of {
            sum = sum.plus(variable.accesses, Accesses::ONCE);
        }
    }
    sum
}

fn once(happens: bool) -> u64 {
    if happens { Accesses::ONCE } else { 0 }
}

/// A frequency within something that happens so often.
fn scaled(frequency: u64, times: u64) -> u64 {
    let product = u128::from(frequency) * u128::from(times) / u128::from(Accesses::ONCE);
    u64::try_from(product).unwrap_or(u64::MAX)
}

/// The parameters that share a variable, each with its frequency.
type Passed = Vec<(VariableId, u64)>;

/// Accesses to a variable itself, and to the parameters that share it. A process that forks
/// itself is counted once.
fn estimate(
    variable: usize,
    (own, passed): (&[Accesses], &[Passed]),
    estimates: &mut [Option<Accesses>],
    depth: u32,
) -> Accesses {
    if let Some(known) = estimates[variable] {
        return known;
    }
    if depth > DEEPEST {
        return own[variable];
    }
    estimates[variable] = Some(own[variable]);
    let mut sum = own[variable];
    for (parameter, times) in &passed[variable] {
        sum = sum.plus(estimate(parameter.index(), (own, passed), estimates, depth + 1), *times);
    }
    estimates[variable] = Some(sum);
    sum
}
