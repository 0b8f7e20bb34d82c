//! Facts that need all routines: reads and writes of operations, how often each object is used, and
//! types that contain themselves (thesis 7.1.2).

use super::Checker;
use super::facts::{Accesses, AlternativeFacts, Effect, ObjectId, RoutineId, VariableId};
use super::types::{Type, TypeId};
use crate::diagnostics::{Code, Diagnostic};
use crate::source::Span;
use crate::tree::{Expression, Name};

/// Factor by which something is expected more often for each loop around it. For each `if` or
/// `case` around it, it is expected half as often.
const LOOP: u64 = 10;

/// Objects within objects, and processes that hand objects on, are followed so far. Beyond, what
/// cannot be told is a write.
const DEEPEST: u32 = 200;

/// Effects of statements on the object whose operation they are part of.
#[derive(Clone, Debug, Default)]
pub struct EffectState {
    /// True if a variable of the object is assigned, or may be.
    pub writes: bool,
    /// Operations on objects within the object.
    pub nested: Vec<(RoutineId, Span)>,
    /// Number of these that are in the guard's condition: the first ones.
    pub in_condition: usize,
}

/// One alternative of an operation.
#[derive(Clone, Debug)]
pub struct AlternativeState {
    pub condition: Option<Expression>,
    pub effect: EffectState,
}

/// Uses of objects.
#[derive(Debug, Default)]
pub struct AccessLog {
    operations: Vec<(VariableId, RoutineId, u64)>,
    passed: Vec<(VariableId, VariableId, u64)>,
}

impl AccessLog {
    /// An operation on a variable, so often.
    pub fn operate(&mut self, on: VariableId, operation: RoutineId, times: u64) {
        self.operations.push((on, operation, times));
    }

    /// A variable that becomes a shared parameter, so often.
    pub fn pass(&mut self, variable: VariableId, parameter: VariableId, times: u64) {
        self.passed.push((variable, parameter, times));
    }
}

/// Expected frequency within loops and conditions, in units of [`Accesses::ONCE`].
pub fn times(loops: u32, conditions: u32) -> u64 {
    let often = Accesses::ONCE.saturating_mul(LOOP.saturating_pow(loops));
    often.checked_shr(conditions).unwrap_or(0).max(1)
}

impl Accesses {
    fn plus(self, other: Accesses, times: u64) -> Accesses {
        Accesses {
            reads: self.reads.saturating_add(scaled(other.reads, times)),
            writes: self.writes.saturating_add(scaled(other.writes, times)),
        }
    }
}

impl Checker<'_> {
    /// Decides for each alternative of each operation whether it reads or writes. What operations
    /// on objects within the object do is known when theirs is.
    pub fn decide_effects(&mut self) -> Vec<Vec<AlternativeFacts>> {
        let mut known: Vec<Option<bool>> = vec![None; self.routines.len()];
        for routine in 0..self.routines.len() {
            self.writes(RoutineId(routine as u32), &mut known, 0);
        }
        self.check_nested(&known);
        let routines = self.routines.iter().map(|routine| {
            let alternatives = routine.alternatives.iter().map(|alternative| {
                let effect = &alternative.effect;
                let nested = effect.nested.iter().any(|(id, _)| known[id.index()] != Some(false));
                let writes = effect.writes || nested;
                let effect = if writes { Effect::Write } else { Effect::Read };
                AlternativeFacts { condition: alternative.condition.clone(), effect }
            });
            alternatives.collect()
        });
        routines.collect()
    }

    /// True if an operation may write. One that is met while it is being decided does, for all that
    /// can be told: object types that contain each other are reported elsewhere.
    fn writes(&self, id: RoutineId, known: &mut [Option<bool>], depth: u32) -> bool {
        if let Some(writes) = known[id.index()] {
            return writes;
        }
        if depth > DEEPEST {
            return true;
        }
        known[id.index()] = Some(true);
        let alternatives = &self.routines[id.index()].alternatives;
        let mut writes = alternatives.iter().any(|alternative| alternative.effect.writes);
        for alternative in alternatives {
            for (nested, _) in &alternative.effect.nested {
                writes |= self.writes(*nested, known, depth + 1);
            }
        }
        known[id.index()] = Some(writes);
        writes
    }

    /// Reports operations on objects within an object that would wait in its middle, or change it
    /// in a guard.
    fn check_nested(&mut self, writes: &[Option<bool>]) {
        let mut waiting = Vec::new();
        let mut changing = Vec::new();
        for routine in &self.routines {
            for alternative in &routine.alternatives {
                let effect = &alternative.effect;
                for (place, (nested, span)) in effect.nested.iter().enumerate() {
                    let operation = &self.routines[nested.index()];
                    let guarded = operation.alternatives.iter().any(|one| one.condition.is_some());
                    if guarded {
                        waiting.push(*span);
                    } else if place < effect.in_condition && writes[nested.index()] == Some(true) {
                        changing.push(*span);
                    }
                }
            }
        }
        for span in waiting {
            let message = "this operation may wait in the middle of another one";
            let diagnostic = Diagnostic::new(Code::Guard, message, span, "has a guard")
                .help("an operation waits only at its beginning; put the condition into its guard");
            self.report(diagnostic);
        }
        for span in changing {
            let message = "a guard changes the object";
            let diagnostic = Diagnostic::new(Code::GuardEffect, message, span, "changes it")
                .help("a guard is tried many times; change the object between `do` and `od`");
            self.report(diagnostic);
        }
    }

    /// Estimates how often each object is read and written.
    pub fn estimate_accesses(&mut self, alternatives: &[Vec<AlternativeFacts>]) {
        let count = self.variables.len();
        let mut own = vec![Accesses::default(); count];
        for (variable, operation, times) in &self.log.operations {
            let effects = alternatives[operation.index()].iter().map(|one| one.effect);
            let one = Accesses {
                reads: once(effects.clone().any(|effect| effect == Effect::Read)),
                writes: once(effects.clone().any(|effect| effect == Effect::Write)),
            };
            let sum = &mut own[variable.index()];
            *sum = sum.plus(one, *times);
        }
        let mut passed = vec![Vec::new(); count];
        for (variable, parameter, times) in &self.log.passed {
            passed[variable.index()].push((*parameter, *times));
        }
        let mut estimates: Vec<Option<Accesses>> = vec![None; count];
        for variable in 0..count {
            let estimate = estimate(variable, (&own, &passed), &mut estimates, 0);
            self.variables[variable].accesses = estimate;
        }
    }

    /// Sum over the variables of an object type. What parameters share is counted where it is
    /// declared.
    pub fn accesses_of_type(&self, of: TypeId) -> Accesses {
        let mut sum = Accesses::default();
        for variable in &self.variables {
            let parameter = matches!(variable.kind, super::VariableKind::Parameter(_));
            if !parameter && self.element_of(variable.of) == of {
                sum = sum.plus(variable.accesses, Accesses::ONCE);
            }
        }
        sum
    }

    /// The type of an array's elements, or of anything else itself.
    fn element_of(&self, mut id: TypeId) -> TypeId {
        while let Type::Array { of, .. } = self.types.get(id) {
            id = *of;
        }
        id
    }

    /// Reports types that contain themselves: records and unions by their fields, and object types
    /// by their variables. An array ends such a chain only for what is copied: objects in arrays
    /// are made with the array.
    pub fn check_containment(&mut self) {
        let mut endless: Vec<&Name> = Vec::new();
        for definition in &self.definitions {
            if let super::DefinitionState::Resolved(of, _) = definition.state
                && self.contains(of, of)
            {
                endless.push(definition.name);
            }
        }
        for unit in &self.objects {
            if self.contains(unit.of, unit.of) {
                endless.push(unit.name);
            }
        }
        for name in endless {
            self.report_endless(name, "this type contains itself");
        }
    }

    fn contains(&self, whole: TypeId, part: TypeId) -> bool {
        let mut seen = vec![false; self.types.count() as usize];
        let mut waiting = self.direct_parts(whole);
        while let Some(id) = waiting.pop() {
            if id == part {
                return true;
            }
            if !std::mem::replace(&mut seen[id.0 as usize], true) {
                waiting.extend(self.direct_parts(id));
            }
        }
        false
    }

    fn direct_parts(&self, id: TypeId) -> Vec<TypeId> {
        match self.types.get(id) {
            Type::Object(ObjectId(object)) => {
                let variables = self.objects[*object as usize].variables.iter();
                variables.map(|id| self.element_of(self.variables[id.index()].of)).collect()
            }
            Type::Record { .. } | Type::Union { .. } | Type::Graph { .. } => self.types.parts(id),
            _ => Vec::new(),
        }
    }
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
