use super::*;
use proptest::prelude::*;

const TICK: Nanoseconds = 100_000_000;

/// A way, and a network that loses what is longer than it takes.
struct Network {
    way: Way,
    takes: u32,
    now: Nanoseconds,
    said: Vec<Change>,
    /// Share of frames that are lost by accident.
    loss: f64,
    random: fastrand::Rng,
}

impl Network {
    fn new(full: u32, takes: u32) -> Self {
        let random = fastrand::Rng::with_seed(u64::from(full ^ takes));
        Network { way: Way::new(full), takes, now: 0, said: Vec::new(), loss: 0.0, random }
    }

    fn passes(&mut self, bytes: u32) -> bool {
        bytes <= self.takes && self.random.f64() >= self.loss
    }

    /// Sends `frames` frames of `bytes` bytes, or in pieces, and has the way tended and answered.
    fn tick(&mut self, frames: usize, bytes: u32) {
        self.now += TICK;
        let mut longest = 0;
        for _ in 0..frames {
            let bytes = if bytes > self.way.most() {
                self.way.leaves_in_pieces();
                self.way.most()
            } else {
                self.way.leaves(bytes);
                bytes
            };
            longest = longest.max(if self.passes(bytes) { bytes } else { 0 });
        }
        let Some(round) = self.way.tend(self.now) else { return };
        assert!(round.probes.iter().all(|bytes| *bytes <= self.way.full), "{round:?}");
        for bytes in round.probes {
            longest = longest.max(if self.passes(bytes) { bytes } else { 0 });
        }
        if self.passes(1) && self.passes(1) {
            self.said.extend(self.way.answered(round.number, longest, self.now));
        }
    }
}

proptest! {
    #[test]
    fn what_passes_is_found_and_said_once(full in 600u32..9000, share in 0.0..1.0f64, frames in 1..20usize) {
        let takes = BASE + ((full - BASE) as f64 * share) as u32;
        let mut network = Network::new(full, full);
        (0..10).for_each(|_| network.tick(frames, full));
        prop_assert_eq!(network.way.most(), full);
        network.takes = takes;
        (0..14).for_each(|_| network.tick(frames, full));
        prop_assert!(network.way.most() <= takes && takes - network.way.most() <= PRECISION);
        prop_assert_eq!(network.said.len(), usize::from(takes < full));
        // Nothing happens until it becomes wide.
        (0..50).for_each(|_| network.tick(frames, full));
        prop_assert!(network.way.most() <= takes && takes - network.way.most() <= PRECISION);
        prop_assert_eq!(network.said.len(), usize::from(takes < full));
        network.takes = full;
        (0..30).for_each(|_| network.tick(frames, full));
        prop_assert_eq!(network.way.most(), full);
        prop_assert_eq!(network.said.len(), 2 * usize::from(takes < full));
    }

    #[test]
    fn no_answer_leads_outside(answers in prop::collection::vec((any::<bool>(), any::<u32>(), any::<u32>()), 0..200)) {
        let mut way = Way::new(1472);
        for (now, (is_right, round, longest)) in (0..).step_by(TICK as usize).zip(answers) {
            way.leaves(way.most());
            let due = way.tend(now).map_or(round, |round| round.number);
            way.answered(if is_right { due } else { round }, longest, now);
            prop_assert!((BASE..=1472).contains(&way.most()));
        }
    }
}

/// A frame of before a way became narrow may come after those that were lost.
#[test]
fn a_length_that_only_a_late_frame_had_is_not_said() {
    let mut network = Network::new(1472, 1272);
    for tick in 1..=MISSES {
        network.now = u64::from(tick) * TICK;
        network.way.leaves(1472);
        let round = network.way.tend(network.now).unwrap();
        assert_eq!(network.way.answered(round.number, 1440, network.now), None);
    }
    assert_eq!(network.way.most(), 1440);
    // Nothing long is sent any more.
    (0..30).for_each(|_| network.tick(1, 600));
    let [Change::Narrow(most)] = network.said[..] else { panic!("{:?}", network.said) };
    assert!((1272 - PRECISION..=1272).contains(&most), "{most}");
}

#[test]
fn a_way_that_is_asked_nothing_of_asks_nothing() {
    let mut way = Way::new(1472);
    way.leaves(BASE);
    assert_eq!(way.tend(TICK), None);
    way.leaves(BASE + 1);
    assert_eq!(way.tend(2 * TICK), Some(Round { number: 1, probes: Vec::new() }));
}

#[test]
fn a_peer_that_says_nothing_says_nothing_about_lengths() {
    let mut way = Way::new(1472);
    for tick in 1..1000 {
        way.leaves(1472);
        way.tend(tick * TICK);
        assert_eq!(way.most(), 1472);
    }
}

#[test]
fn an_answer_to_another_round_counts_for_nothing() {
    let mut way = Way::new(1472);
    for tick in 1..1000 {
        way.leaves(1472);
        if let Some(Round { number, .. }) = way.tend(tick * TICK) {
            assert_eq!(way.answered(number + 1, 0, tick * TICK), None);
            assert_eq!(way.answered(number.wrapping_sub(1), 0, tick * TICK), None);
        }
        assert_eq!(way.most(), 1472);
    }
}

/// One frame in ten, for as many hours as this takes rounds: a way is no narrower for that.
#[test]
fn loss_is_no_narrow_way() {
    let mut network = Network::new(1472, 1472);
    network.loss = 0.1;
    for _ in 0..100_000 {
        network.tick(1, 1472);
    }
    assert_eq!(network.said, []);
}

#[test]
fn loss_only_makes_a_narrow_way_take_longer_to_find() {
    let mut network = Network::new(1472, 1272);
    network.loss = 0.2;
    (0..100).for_each(|_| network.tick(3, 1472));
    let found = (0..20).filter(|_| {
        network.tick(3, 1472);
        (1272 - PRECISION..=1272).contains(&network.way.most())
    });
    assert!(found.count() >= 15, "{:?}", network.way);
    network.takes = 1472;
    (0..100).for_each(|_| network.tick(3, 1472));
    assert_eq!(network.way.most(), 1472);
}

#[test]
fn frames_that_are_short_as_they_are_are_never_cut() {
    let mut network = Network::new(400, 300);
    (0..100).for_each(|_| network.tick(3, 400));
    assert_eq!((network.way.most(), network.said.len()), (400, 0));
}
