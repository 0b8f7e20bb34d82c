//! Termination: never said too early, in all worlds of a few messages and in many of more; always
//! said in the end, after two waves in which nothing happens.

use super::*;
use std::collections::BTreeSet;

/// Messages between ranks, each of which makes its receiver active, and what the detector knows.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct World {
    active: Vec<bool>,
    sent: Vec<u64>,
    received: Vec<u64>,
    /// Messages under way to each rank: links may reorder, but messages to a rank are alike.
    under_way: Vec<u8>,
    /// Ranks that were asked, and have not answered.
    asked: Vec<bool>,
    /// Messages that may still be sent.
    left: u8,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Send(usize, usize),
    Receive(usize),
    Rest(usize),
    Ask,
    Answer(usize),
}

impl World {
    fn new(ranks: usize, left: u8) -> Self {
        let mut active = vec![false; ranks];
        active[0] = true;
        World {
            active,
            sent: vec![0; ranks],
            received: vec![0; ranks],
            under_way: vec![0; ranks],
            asked: vec![false; ranks],
            left,
        }
    }

    fn steps(&self) -> Vec<Step> {
        let ranks = 0..self.active.len();
        let mut steps = Vec::new();
        for rank in ranks.clone() {
            if self.active[rank] {
                steps.push(Step::Rest(rank));
                if self.left > 0 {
                    let others = ranks.clone().filter(|to| *to != rank);
                    steps.extend(others.map(|to| Step::Send(rank, to)));
                }
            } else if self.asked[rank] {
                steps.push(Step::Answer(rank));
            }
            if self.under_way[rank] > 0 {
                steps.push(Step::Receive(rank));
            }
        }
        if !self.active[0] && !self.asked.contains(&true) {
            steps.push(Step::Ask);
        }
        steps
    }

    /// Takes a step. True if `judge` says that it is over.
    fn take(&mut self, step: Step, judge: &mut impl Judge) -> bool {
        match step {
            Step::Send(from, to) => {
                self.left -= 1;
                self.sent[from] += 1;
                self.under_way[to] += 1;
            }
            Step::Receive(rank) => {
                self.under_way[rank] -= 1;
                self.received[rank] += 1;
                self.active[rank] = true;
            }
            Step::Rest(rank) => self.active[rank] = false,
            Step::Ask => {
                self.asked.fill(true);
                judge.begin();
            }
            Step::Answer(rank) => {
                self.asked[rank] = false;
                let counts = Counts { sent: self.sent[rank], received: self.received[rank] };
                return judge.answer(rank, counts);
            }
        }
        false
    }

    fn is_over(&self) -> bool {
        !self.active.contains(&true) && self.under_way.iter().all(|count| *count == 0)
    }
}

trait Judge: Clone {
    fn begin(&mut self);
    fn answer(&mut self, rank: usize, counts: Counts) -> bool;
    /// All that tells two of them apart.
    fn key(&self) -> (u64, u64, Option<u64>);
}

impl Judge for Detector {
    fn begin(&mut self) {
        Detector::begin(self);
    }

    fn answer(&mut self, rank: usize, counts: Counts) -> bool {
        Detector::answer(self, rank, self.wave, counts).unwrap()
    }

    fn key(&self) -> (u64, u64, Option<u64>) {
        (self.sums.sent, self.sums.received, self.received_before)
    }
}

/// A detector that believes one wave.
#[derive(Clone)]
struct Credulous(Detector);

impl Judge for Credulous {
    fn begin(&mut self) {
        self.0.begin();
    }

    fn answer(&mut self, rank: usize, counts: Counts) -> bool {
        let _ = self.0.answer(rank, self.0.wave, counts);
        !self.0.is_waving() && self.0.sums.sent == self.0.sums.received
    }

    fn key(&self) -> (u64, u64, Option<u64>) {
        self.0.key()
    }
}

/// Looks at all that can happen. Returns how many states there are, and one in which it was said
/// to be over, and was not.
fn explore(ranks: usize, messages: u8, judge: impl Judge) -> (usize, Option<World>) {
    let mut seen = BTreeSet::new();
    let mut open = vec![(World::new(ranks, messages), judge)];
    while let Some((world, judge)) = open.pop() {
        if !seen.insert((world.clone(), judge.key())) {
            continue;
        }
        for step in world.steps() {
            let (mut next, mut judge) = (world.clone(), judge.clone());
            if next.take(step, &mut judge) {
                if !next.is_over() {
                    return (seen.len(), Some(next));
                }
            } else {
                open.push((next, judge));
            }
        }
    }
    (seen.len(), None)
}

#[test]
fn nothing_is_over_before_it_is_whatever_happens() {
    for (ranks, messages, states) in [(1, 0, 4), (2, 4, 1000), (3, 3, 5000)] {
        let (seen, wrong) = explore(ranks, messages, Detector::new(ranks));
        assert_eq!(wrong, None);
        assert!(seen >= states, "{ranks} ranks and {messages} messages have {seen} states");
    }
}

#[test]
fn one_wave_would_be_believed_too_early() {
    let (_, wrong) = explore(3, 3, Credulous(Detector::new(3)));
    assert!(wrong.is_some(), "the exploration finds what is wrong with it");
}

#[test]
fn many_messages_of_many_ranks_end_once_and_in_time() {
    for seed in 0..300 {
        let mut random = fastrand::Rng::with_seed(seed);
        let ranks = random.usize(1..9);
        let mut world = World::new(ranks, if ranks == 1 { 0 } else { random.u8(..) });
        let (mut detector, mut waves_after) = (Detector::new(ranks), 0);
        loop {
            let steps = world.steps();
            let step = steps[random.usize(..steps.len())];
            if matches!(step, Step::Ask) && world.is_over() {
                waves_after += 1;
            }
            if world.take(step, &mut detector) {
                break;
            }
        }
        assert!(world.is_over(), "seed {seed}");
        assert!((1..=2).contains(&waves_after), "seed {seed}: {waves_after} waves after its end");
    }
}

#[test]
fn answers_that_nobody_asked_for_are_refused() {
    let mut detector = Detector::new(2);
    assert_eq!(Detector::answer(&mut detector, 0, 0, Counts::default()), Err(Unasked));
    let wave = Detector::begin(&mut detector);
    assert_eq!(Detector::answer(&mut detector, 1, wave, Counts::default()), Ok(false));
    for (rank, wave) in [(1, wave), (0, wave + 1), (2, wave)] {
        assert_eq!(Detector::answer(&mut detector, rank, wave, Counts::default()), Err(Unasked));
    }
}
