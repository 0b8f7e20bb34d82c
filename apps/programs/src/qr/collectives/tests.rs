use super::{Candidate, Collectives};
use weft_app_common::{Error, Exchange, ThreadExchange};

/// The collectives of threads that exchange messages, for tests without a job.
pub struct Threads(pub ThreadExchange);

impl Threads {
    fn fold<T: bytemuck::Pod>(&mut self, mine: T, join: impl Fn(T, T) -> T) -> Result<T, Error> {
        let all = self.0.gather(&[mine], |_| 1)?;
        let joined = all.and_then(|all| all.concat().into_iter().reduce(join));
        let mut result = [joined.unwrap_or(mine)];
        self.0.spread(&mut result)?;
        Ok(result[0])
    }
}

impl Collectives for Threads {
    fn rank(&self) -> usize {
        self.0.rank()
    }

    fn size(&self) -> usize {
        self.0.size()
    }

    fn longest(&mut self, mine: Candidate) -> Result<Candidate, Error> {
        let longer = |one, two| Candidate::unpack(one).longer(Candidate::unpack(two)).pack();
        Ok(Candidate::unpack(self.fold(mine.pack(), longer)?))
    }

    fn broadcast(&mut self, root: usize, values: &mut [f64]) -> Result<(), Error> {
        if root == self.rank() {
            self.0.broadcast(bytemuck::cast_slice(values))
        } else {
            self.0.receive(root, bytemuck::cast_slice_mut(values))
        }
    }

    fn sum(&mut self, values: &mut [f64]) -> Result<(), Error> {
        for value in values {
            *value = self.fold(*value, |one, two| one + two)?;
        }
        Ok(())
    }

    fn largest(&mut self, value: f64) -> Result<f64, Error> {
        self.fold(value, f64::max)
    }

    fn work(&mut self, _steps: usize) {}
}

fn candidate(norm: f64, column: u32) -> Candidate {
    Candidate { norm, head: -0.5, column, owner: column % 3 }
}

#[test]
fn the_longest_wins_and_of_equals_the_first_whoever_compares() {
    let (long, short, equal) = (candidate(2.0, 7), candidate(1.0, 1), candidate(2.0, 8));
    for (one, two, expected) in
        [(long, short, long), (long, equal, long), (Candidate::NONE, short, short)]
    {
        assert_eq!(one.longer(two), expected);
        assert_eq!(two.longer(one), expected);
    }
}

#[test]
fn a_candidate_survives_its_packing_in_all_bits() {
    for candidate in [candidate(f64::MIN_POSITIVE, 0xffff_fff0), Candidate::NONE] {
        assert_eq!(Candidate::unpack(candidate.pack()), candidate);
    }
}
