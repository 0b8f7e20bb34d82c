//! Uses of objects, as they are met in statements.

use super::facts::{Accesses, RoutineId, VariableId};
use crate::source::Span;
use crate::tree::Expression;

/// Factor by which something is expected more often for each loop around it. For each `if` or
/// `case` around it, it is expected half as often.
const LOOP: u64 = 10;

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
    pub operations: Vec<(VariableId, RoutineId, u64)>,
    pub passed: Vec<(VariableId, VariableId, u64)>,
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
