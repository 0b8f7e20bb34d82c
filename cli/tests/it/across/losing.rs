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
    /// Has it survive `loss` over each link: a run that was done before is tried again, twice as
    /// long.
    pub fn survives(self, lost: &str, loss: impl Fn(&mut Mortal)) {
        let Some(two) = cluster(2) else { return };
        for link in ["udp", "xdp"] {
            let what = format!("{lost} over {link}");
            let mut longer = (0..=DOUBLINGS).map(|doublings| self.length << doublings);
            let are_lost = longer.any(|length| {
                let ended = lose(&two, link, &what, &(self.words)(length), &loss);
                (self.judge)(&ended, length, &what)
            });
            assert!(are_lost, "{what}: nobody says that all of them were lost");
        }
    }
}

fn lose(
    cluster: &Cluster,
    link: &str,
    what: &str,
    words: &str,
    lose: &impl Fn(&mut Mortal),
) -> Ended {
    let traces = Traces::before(cluster, link);
    let options = format!("{GOES_ON} --link {link} --hosts a:4,b:4");
    let example = format!("weft-example {words}");
    let command = traces.command(common::command(cluster, &options, &example));
    let mut job = Mortal::start(command, traces.folder());
    let processes = traces.processes();
    lose(&mut job);
    let ended = job.finish(8);
    traces.wait(&processes, Instant::now(), what);
    traces.check(what);
    ended
}
