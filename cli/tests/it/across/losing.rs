//! Examples on two hosts, four ranks on each, of which some are lost in the middle.

use super::ends::Traces;
use super::*;
use crate::common::mortal::{Ended, GOES_ON, Mortal};
use std::time::Instant;

/// Doublings of what an example does until all its victims are lost before its end.
const DOUBLINGS: u32 = 6;

/// An example, and how its end is judged.
#[derive(Clone, Copy)]
pub struct Judged {
    /// Words that follow its name, of a run of some length.
    pub words: fn(u64) -> String,
    /// Length at first.
    pub length: u64,
    /// Judges an end; true if all that were killed were lost.
    pub judge: fn(&Ended, u64, &str) -> bool,
}

impl Judged {
    /// Has it survive `loss` over each link, eight ranks on two hosts: a run that was done before
    /// is tried again, twice as long.
    pub fn survives(self, lost: &str, loss: impl Fn(&mut Mortal)) {
        self.survives_on("--hosts a:4,b:4", 8, lost, loss);
    }

    /// Has a job survive that begins with `size` ranks by these words about hosts.
    pub fn survives_on(self, hosts: &str, size: usize, lost: &str, loss: impl Fn(&mut Mortal)) {
        let Some(two) = cluster(2) else { return };
        for link in ["udp", "xdp"] {
            let what = format!("{lost} over {link}");
            let mut longer = (0..=DOUBLINGS).map(|doublings| self.length << doublings);
            let are_lost = longer.any(|length| {
                let options = format!("{GOES_ON} --link {link} {hosts}");
                let traces = Traces::before(&two, link);
                let example = format!("weft-example {}", (self.words)(length));
                let command = common::command(&two, &options, &example);
                let ended = lose(&traces, command, size, &what, &loss);
                (self.judge)(&ended, length, &what)
            });
            assert!(are_lost, "{what}: nobody says that all of them were lost");
        }
    }
}

fn lose(
    traces: &Traces<'_>,
    command: Command,
    size: usize,
    what: &str,
    loss: &impl Fn(&mut Mortal),
) -> Ended {
    let mut job = Mortal::start(traces.command(command), traces.folder());
    let processes = traces.processes();
    loss(&mut job);
    let ended = job.finish(size);
    traces.wait(&processes, Instant::now(), what);
    traces.check(what);
    ended
}
