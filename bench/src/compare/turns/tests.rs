use super::*;
use anyhow::{Result, bail};
use std::sync::Mutex;

/// A peer that says who had a turn, and fails in the turn that it is scripted.
struct ScriptedPeer<'a> {
    name: &'static str,
    fails_in: usize,
    seen: &'a Mutex<Vec<&'static str>>,
}

impl Peer for ScriptedPeer<'_> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn title(&self) -> &'static str {
        self.name
    }

    fn settings(&self, _testbed: &Testbed) -> String {
        "none".into()
    }

    fn ready(&self, _testbed: &Testbed) -> Result<()> {
        if self.fails_in == 0 {
            bail!("no {} here", self.name);
        }
        Ok(())
    }

    fn measure(&self, _testbed: &Testbed, rounds: usize) -> Result<Figures> {
        let mut seen = self.seen.lock().unwrap();
        seen.push(self.name);
        let turn = seen.iter().filter(|name| **name == self.name).count();
        if turn == self.fails_in {
            bail!("turn {turn} failed");
        }
        let mut figures = Figures::default();
        figures.set(What::Latency, (turn * rounds) as f64);
        Ok(figures)
    }
}

#[test]
fn peers_have_turns_and_those_that_fail_have_no_more() {
    let seen: &'static Mutex<Vec<&'static str>> = Box::leak(Box::default());
    let scripted =
        |name, fails_in| Box::new(ScriptedPeer { name, fails_in, seen }) as Box<dyn Peer>;
    let peers = vec![scripted("a", 9), scripted("missing", 0), scripted("b", 2), scripted("c", 9)];
    let outcomes = take(&Testbed::Host, peers, 3, 10);
    assert_eq!(*seen.lock().unwrap(), ["a", "b", "c", "a", "b", "c", "a", "c"]);
    let [a, missing, b, c] = outcomes.as_slice() else { panic!("an outcome each") };
    for outcome in [a, c] {
        let median = Figure { value: 20.0, processor_ns: None };
        assert_eq!(outcome.median(What::Latency), Some(median), "of 10, 20 and 30");
        assert_eq!(outcome.median(What::Rate), None);
    }
    assert_eq!(missing.turns, Err("no missing here".into()));
    assert_eq!(b.turns, Err("turn 2 failed".into()));
    assert_eq!(b.median(What::Latency), None);
}
