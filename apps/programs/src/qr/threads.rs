//! Factorization by bare threads: collectives in memory that they share.

use std::sync::{Mutex, PoisonError, RwLock};
use std::time::Duration;

use weft_app_common::{Crewmate, Error as ExchangeError, crew, locked};

use crate::qr::collectives::{Candidate, Collectives};
use crate::qr::columns::Columns;
use crate::qr::factor::factorize;
use crate::qr::options::Options;
use crate::qr::run::Error;
use crate::qr::verify::{Errors, errors};

/// Factorizes by so many threads, and checks the result as ranks do. Returns the time of the
/// factorization.
///
/// # Errors
/// A wrong result.
pub fn solve(options: &Options, threads: usize) -> Result<Duration, Error> {
    let problem = options.problem();
    let memory = Memory::new(threads);
    let parts = crew(threads, |mate| {
        let mut together = Together { mate, memory: &memory, broadcasts: 0 };
        let mut columns = Columns::new(problem, mate.rank(), threads);
        let (factors, time) = mate.timed(|| factorize(&mut columns, &mut together, |_| ()));
        let errors = factors.and_then(|factors| errors(&columns, &factors, &mut together));
        errors.map(|errors| (errors, time))
    });
    let (errors, time) = parts.into_iter().collect::<Result<Vec<_>, ExchangeError>>()?[0];
    if !errors.are_small(problem.rows, problem.columns) {
        let allowed = Errors::allowed(problem.rows, problem.columns);
        return Err(Error::Wrong { errors, allowed });
    }
    Ok(time)
}

/// Memory that all threads share.
struct Memory {
    candidates: Vec<Mutex<Candidate>>,
    values: Vec<Mutex<Vec<f64>>>,
    /// Vectors of two broadcasts: the first one's is written again when all have passed the
    /// second one's barrier, and so have read it.
    vectors: [RwLock<Vec<f64>>; 2],
}

impl Memory {
    fn new(threads: usize) -> Self {
        let candidates = (0..threads).map(|_| Mutex::new(Candidate::NONE)).collect();
        let values = (0..threads).map(|_| Mutex::default()).collect();
        Memory { candidates, values, vectors: Default::default() }
    }
}

/// A thread, and the memory.
struct Together<'a> {
    mate: &'a Crewmate<'a>,
    memory: &'a Memory,
    broadcasts: usize,
}

impl Together<'_> {
    /// Combines what all threads bring.
    fn combine(&self, mine: &[f64], mut join: impl FnMut(usize, f64)) {
        *locked(&self.memory.values[self.mate.rank()]) = mine.to_vec();
        self.mate.barrier();
        for values in &self.memory.values {
            locked(values).iter().enumerate().for_each(|(index, value)| join(index, *value));
        }
        self.mate.barrier();
    }
}

impl Collectives for Together<'_> {
    fn rank(&self) -> usize {
        self.mate.rank()
    }

    fn size(&self) -> usize {
        self.mate.size()
    }

    fn longest(&mut self, mine: Candidate) -> Result<Candidate, ExchangeError> {
        *locked(&self.memory.candidates[self.mate.rank()]) = mine;
        self.mate.barrier();
        // They are written again after the broadcast that follows.
        let candidates = self.memory.candidates.iter().map(|candidate| *locked(candidate));
        Ok(candidates.fold(Candidate::NONE, Candidate::longer))
    }

    fn broadcast(&mut self, root: usize, values: &mut [f64]) -> Result<(), ExchangeError> {
        let vector = &self.memory.vectors[self.broadcasts % 2];
        self.broadcasts += 1;
        if root == self.mate.rank() {
            let mut vector = vector.write().unwrap_or_else(PoisonError::into_inner);
            vector.clear();
            vector.extend_from_slice(values);
        }
        self.mate.barrier();
        if root != self.mate.rank() {
            values.copy_from_slice(&vector.read().unwrap_or_else(PoisonError::into_inner));
        }
        Ok(())
    }

    fn sum(&mut self, values: &mut [f64]) -> Result<(), ExchangeError> {
        let mut sums = vec![0.0; values.len()];
        self.combine(values, |index, value| sums[index] += value);
        values.copy_from_slice(&sums);
        Ok(())
    }

    fn largest(&mut self, value: f64) -> Result<f64, ExchangeError> {
        let mut largest = value;
        self.combine(&[value], |_, other| largest = largest.max(other));
        Ok(largest)
    }

    fn work(&mut self, _steps: usize) {}
}
