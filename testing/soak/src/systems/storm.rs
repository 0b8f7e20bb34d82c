//! The program of a storm, step by step.

use crate::systems::Result;
use crate::systems::rank::{CALLS, Due, EVENTS, KINDS, ORDERED, Sums, Systems, TAGGED};
use weft::{Rank, Weft};
use weft_model::random::Random;

/// Messages that are sent at most to a rank that leaves its tagged messages alone.
const MOST_TO_NAPPER: u32 = 2000;

/// Options of a storm. Everything that it does follows from them and from the number of ranks.
#[derive(Debug, Clone, Copy)]
pub struct SystemStorm {
    /// Steps, in each of which a rank sends up to five times, and all meet at the end.
    pub steps: u32,
    /// Number that fixes which.
    pub seed: u64,
}

/// One rank's part.
struct Part<'a> {
    storm: SystemStorm,
    weft: &'a Weft,
    systems: Systems<'a>,
    random: Random,
    sent: Sums,
    entries: u64,
}

/// A step in which this rank leaves its tagged messages alone, and everything else ends meanwhile.
#[derive(Clone, Copy)]
struct Nap {
    rank: Rank,
    /// True if others send it until they are stopped.
    flooded: bool,
}

impl SystemStorm {
    /// A storm of six steps.
    pub fn new(seed: u64) -> Self {
        SystemStorm { steps: 6, seed }
    }

    /// One rank's part, on two ranks or more. Returns when all have received all.
    ///
    /// # Errors
    /// A lost rank, or what else a system says.
    ///
    /// # Panics
    /// If anything is lost, doubled, changed, out of order or given to the wrong system.
    pub fn run(&self, weft: &Weft) -> Result<()> {
        let systems = Systems::open(weft)?;
        let random = Random::part(self.seed, u64::from(weft.rank().0));
        let mut part = Part { storm: *self, weft, systems, random, sent: [0; KINDS], entries: 0 };
        for step in 0..self.steps {
            match self.nap(step, weft.size()) {
                None => part.step(step)?,
                Some(nap) => part.step_with_nap(step, nap)?,
            }
            part.reduce(step)?;
        }
        part.receive_all()?;
        part.systems.close(self.steps)
    }

    /// The numbers of all ranks for a step.
    fn shared(&self, step: u32) -> Random {
        Random::part(self.seed ^ 0x5a5, u64::from(step))
    }

    fn nap(&self, step: u32, size: usize) -> Option<Nap> {
        let mut random = self.shared(step);
        random.happens(300).then(|| Nap {
            rank: Rank(random.below(size as u64) as u16),
            flooded: random.happens(500),
        })
    }
}

impl Part<'_> {
    /// Sends at random, and meets all others.
    fn step(&mut self, step: u32) -> Result<()> {
        self.systems.tagged.post_some(&mut self.random);
        self.send_some(EVENTS)?;
        self.systems.tagged.claim_some(&mut self.random);
        self.meet(step)
    }

    /// Sends by the first `kinds` systems.
    fn send_some(&mut self, kinds: usize) -> Result<()> {
        for _ in 0..self.random.below(6) {
            let to = Rank(self.random.below(self.weft.size() as u64) as u16);
            let kind = self.random.below(kinds as u64) as usize;
            self.send(kind, to)?;
            self.systems.tagged.progress()?;
        }
        Ok(())
    }

    fn send(&mut self, kind: usize, to: Rank) -> Result<()> {
        let amount = self.random.below(1 << 20) + 1;
        self.sent[kind] += amount;
        self.entries += u64::from(kind == ORDERED);
        self.systems.send(kind, to, amount, &mut self.random)
    }

    fn meet(&mut self, step: u32) -> Result<()> {
        let amount = self.random.below(1 << 20);
        let heard = self.systems.meet(step, amount)?;
        let told = amount * (self.weft.size() as u64 - 1);
        self.sent[EVENTS] = self.sent[EVENTS].wrapping_add(told).wrapping_sub(heard);
        Ok(())
    }

    /// A step whose traffic ends, but for tagged messages, while one rank leaves those alone.
    fn step_with_nap(&mut self, step: u32, nap: Nap) -> Result<()> {
        // No operation of all goes on any more that takes the napper's packets.
        self.weft.barrier()?;
        let naps = self.weft.rank() == nap.rank;
        self.systems.tagged.set_napping(naps);
        let before = self.systems.tagged.received();
        self.weft.barrier()?;
        if !naps {
            self.send_to_napper(nap)?;
        }
        self.send_some(if naps { TAGGED } else { EVENTS })?;
        // Calls have answers, so that both ways go on.
        self.send(CALLS, nap.rank)?;
        self.meet(step)?;
        self.await_all(&[TAGGED])?;
        if naps {
            let now = self.systems.tagged.received();
            assert_eq!(now, before, "a message was received by who receives none");
        } else {
            let waiting = self.systems.tagged.unfinished_to(nap.rank);
            assert!(waiting > 0, "a message has reached rank {}, which takes none", nap.rank);
        }
        self.weft.barrier()?;
        self.systems.tagged.set_napping(false);
        Ok(())
    }

    /// Sends one message whose end this rank is told of, and maybe as many others as can leave.
    fn send_to_napper(&mut self, nap: Nap) -> Result<()> {
        let amount = self.random.below(1 << 20) + 1;
        self.sent[TAGGED] += amount;
        self.systems.tagged.send_synchronous(nap.rank, amount)?;
        let most = if nap.flooded { MOST_TO_NAPPER } else { 0 };
        for _ in 0..most {
            if self.systems.tagged.is_held_up(nap.rank) {
                break;
            }
            self.sent[TAGGED] += 1;
            self.systems.tagged.send_short(nap.rank, 1)?;
            self.weft.poll()?;
        }
        Ok(())
    }

    /// Adds numbers of all ranks by an operation of tagged messages.
    fn reduce(&mut self, step: u32) -> Result<()> {
        let mut random = self.storm.shared(step);
        // Beyond what is exchanged in one packet, and in one piece.
        let count = *random.choose(&[1, 3, 200, 3000]);
        let number = |rank: u64, at: usize| rank.wrapping_mul(0x9e37_79b9) + at as u64;
        let mine = u64::from(self.weft.rank().0);
        let numbers: Vec<u64> = (0..count).map(|at| number(mine, at)).collect();
        let sums = self.systems.tagged.all_reduce(&numbers)?;
        let size = self.weft.size() as u64;
        let sum = |at| (0..size).map(|rank| number(rank, at)).sum::<u64>();
        assert!((0..count).all(|at| sums[at] == sum(at)), "sums of step {step} are wrong");
        Ok(())
    }

    /// Waits until everything that any rank has sent is received.
    fn receive_all(&mut self) -> Result<()> {
        self.systems.tagged.receive_all();
        self.await_all(&[])?;
        let events = self.systems.all(self.sent)?[EVENTS];
        assert_eq!(events, 0, "events were lost or doubled");
        Ok(())
    }

    /// Waits until everything that any rank has sent so far is received, but for the systems that
    /// are left out. All ranks call it.
    fn await_all(&mut self, left_out: &[usize]) -> Result<()> {
        let sums = self.systems.all(self.sent)?;
        let entries = self.systems.all([self.entries, 0, 0, 0, 0, 0, 0])?[0];
        let due = Due { sums, entries };
        while !self.systems.have_all(&due, left_out)? {
            self.weft.poll()?;
            self.systems.tagged.progress()?;
        }
        Ok(())
    }
}
