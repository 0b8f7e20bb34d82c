//! Positions that are reached and kept, within the memory that there is.

use super::*;

/// A number that goes down to 0 by steps of 1 and 2.
#[derive(Clone, Copy)]
struct Number(u8);

impl Puzzle for Number {
    type Moves = std::ops::RangeInclusive<u8>;

    const BYTES: usize = 1;
    const MOVE_BITS: usize = 2;
    const GRAIN: u16 = 0;

    fn moves(&self, _: Option<u8>) -> Self::Moves {
        1..=self.0.min(2)
    }

    fn play(&self, by: u8) -> Self {
        Number(self.0 - by)
    }

    fn lower_bound(&self) -> u16 {
        u16::from(self.0).div_ceil(2)
    }

    fn is_goal(&self) -> bool {
        self.0 == 0
    }

    fn hash(&self) -> u64 {
        // All in the last places: a search for one goes round.
        u64::MAX - u64::from(self.0)
    }

    fn encode(&self, into: &mut [u8]) {
        into[0] = self.0;
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        Some(Number(bytes[0]))
    }
}

fn start(number: u8) -> Job {
    AStar::<Number>::LAYOUT.start(|bytes| bytes[0] = number)
}

/// Searches by one rank until nothing is left of this iteration.
fn run(worker: &mut AStar<Number>, first: Job) {
    let mut stack = vec![first];
    let mut below = Vec::new();
    loop {
        match stack.pop() {
            Some(job) => worker.take(&job, false, &mut below),
            None if !worker.take_kept(&mut below) => return,
            None => {}
        }
        stack.extend(below.drain(..).map(|(_, job)| job));
    }
}

#[test]
fn each_position_is_searched_once_and_what_is_beyond_is_kept() {
    let mut worker = AStar::<Number>::new(64 * POSITION_BYTES);
    worker.begin(1, 5);
    run(&mut worker, start(9));
    let moves = worker.take_found().unwrap();
    assert_eq!((moves.len(), moves.iter().sum::<u8>()), (5, 9));
    let mut worker = AStar::<Number>::new(64 * POSITION_BYTES);
    worker.begin(1, 2);
    run(&mut worker, start(9));
    assert_eq!((worker.take_found(), worker.worked.excess), (None, 3), "it takes five");
    let before = worker.worked.nodes;
    worker.begin(2, 5);
    assert_eq!(worker.worked.excess, u64::MAX);
    run(&mut worker, start(9));
    assert!(worker.take_found().is_some() && worker.worked.nodes > before);
    // Nine positions have two moves at most.
    assert!(worker.worked.nodes <= 2 * 9 + 2, "{:?}", worker.worked);
}

#[test]
fn what_has_no_room_is_dropped_and_counted() {
    for positions in 0..5 {
        let mut worker = AStar::<Number>::new(positions * POSITION_BYTES);
        worker.begin(1, 20);
        run(&mut worker, start(40));
        assert_eq!(worker.take_found(), None);
        assert!(worker.is_full && worker.worked.dropped > 0, "{positions}");
    }
}
