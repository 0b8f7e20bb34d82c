//! Models small enough to count by hand.

use super::*;

/// Walks on a board of `size` by `size` squares, one to the right or one up, from corner to corner.
struct Board {
    size: u8,
    /// Squares on which it gets stuck.
    holes: Vec<(u8, u8)>,
    /// Squares that it must not be on.
    forbidden: Vec<(u8, u8)>,
    /// Squares from which it walks to and fro between that square and the one to the right.
    traps: Vec<(u8, u8)>,
    /// Squares that cannot be stepped onto.
    cliffs: Vec<(u8, u8)>,
}

#[derive(Clone, Debug)]
struct Stuck;

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("in a hole")
    }
}

impl Model for Board {
    type State = (u8, u8);
    type Step = &'static str;
    type Deadlock = Stuck;

    fn start(&self) -> (u8, u8) {
        (0, 0)
    }

    fn steps(&self, &(x, y): &(u8, u8)) -> Vec<&'static str> {
        if self.traps.contains(&(x, y)) {
            return vec!["right"];
        }
        if x > 0 && self.traps.contains(&(x - 1, y)) {
            return vec!["left"];
        }
        let right = (x + 1 < self.size).then_some("right");
        right.into_iter().chain((y + 1 < self.size).then_some("up")).collect()
    }

    fn take(&self, (x, y): &mut (u8, u8), step: &&'static str) {
        match *step {
            "right" => *x += 1,
            "left" => *x -= 1,
            _ => *y += 1,
        }
        assert!(!self.cliffs.contains(&(*x, *y)), "fell off");
    }

    fn check(&self, state: &(u8, u8)) {
        assert!(!self.forbidden.contains(state), "{state:?} is forbidden");
    }

    fn digest(&self, state: &(u8, u8)) -> u64 {
        digest(state)
    }

    fn is_done(&self, state: &(u8, u8)) -> bool {
        *state == (self.size - 1, self.size - 1)
    }

    fn deadlock(&self, state: &(u8, u8)) -> Option<Stuck> {
        self.holes.contains(state).then_some(Stuck)
    }
}

fn board(size: u8) -> Board {
    Board { size, holes: vec![], forbidden: vec![], traps: vec![], cliffs: vec![] }
}

/// 252 ways lead through 36 squares: each square once, and each border between two of them.
#[test]
fn equal_states_are_visited_once() {
    let explored = explore(&board(6), 36).expect("nothing is wrong");
    assert_eq!(explored, Explored { states: 36, transitions: 60, quiescent_ends: 1 });
}

#[test]
#[should_panic(expected = "there are more than 35 states")]
fn an_exploration_cut_short_is_none() {
    let _ = explore(&board(6), 35);
}

#[test]
fn the_counterexample_is_the_shortest_and_in_words() {
    let model = Board { holes: vec![(4, 4), (2, 1), (0, 5)], ..board(6) };
    let found = explore(&model, 100).expect_err("there are holes");
    assert_eq!(found.to_string(), "  1. right\n  2. right\n  3. up\nin a hole");
    assert!(found.deadlock().is_some());
}

#[test]
fn a_broken_invariant_is_named() {
    let model = Board { forbidden: vec![(1, 0)], holes: vec![(1, 1)], ..board(3) };
    let found = explore(&model, 100).expect_err("a square is forbidden");
    assert_eq!(found.to_string(), "  1. right\nbroken: (1, 0) is forbidden");
    assert!(found.deadlock().is_none());
}

#[test]
fn steps_that_lead_nowhere_are_a_livelock() {
    let model = Board { traps: vec![(1, 1)], ..board(4) };
    let found = explore(&model, 100).expect_err("there is a trap");
    assert!(matches!(found.wrong, Wrong::Livelock), "{found}");
    assert_eq!(found.steps.len(), 2, "{found}");
}

/// A step that panics is the last of its counterexample.
#[test]
fn a_step_may_break_an_invariant_itself() {
    let model = Board { cliffs: vec![(1, 1)], ..board(3) };
    let found = explore(&model, 100).expect_err("there is a cliff");
    assert_eq!(found.to_string(), "  1. right\n  2. up\nbroken: fell off");
}
