//! Ranks that are ready to run and have no core.

use super::{Cause, Facts};
use crate::analysis::balance::RankTime;
use crate::analysis::verdict::is_part;
use crate::units;

/// Part of the time of all ranks that their computing is to be held up, in percent.
const TIME: u64 = 20;

impl Facts<'_> {
    /// More ranks than cores, or other programs that take them.
    pub(super) fn too_few_cores(&self) -> Option<Cause> {
        let held_up = self.ranks.iter().map(held_up).sum();
        if held_up == 0 || !is_part(TIME, held_up, self.total()) {
            return None;
        }
        let share = units::percent(held_up, self.total());
        let ranks = self.ranks.len();
        match self.cores_of_one_host() {
            Some(cores) if cores < ranks => Cause::certain([
                format!(
                    "{ranks} ranks share {}: they are to compute and have no core in {share} of \
                     their time.",
                    units::count(cores as u64, "core")
                ),
                format!(
                    "That is oversubscription: run as many ranks as there are cores (-n {cores}), \
                     or on more hosts."
                ),
            ]),
            _ => Some(Cause {
                lines: [
                    format!(
                        "Ranks are to compute and have no core in {share} of their time: other \
                         programs, or threads of their own, have it."
                    ),
                    "Run fewer ranks, or end what else runs there; weft doctor says what takes \
                     cores now."
                        .into(),
                ],
                is_certain: false,
            }),
        }
    }

    /// Cores that all ranks share, if they are on one host.
    fn cores_of_one_host(&self) -> Option<usize> {
        let run = &self.trace.run;
        let is_one = run.hosts.windows(2).all(|hosts| hosts[0] == hosts[1]);
        run.options.get("cores").filter(|_| is_one)?.parse().ok()
    }
}

/// Time by which the computing of a rank was held up: its run delay is divided as the time is in
/// which it may have had it, because who waits awake is in the queue of a core, too.
fn held_up(of: &RankTime) -> u64 {
    let busy = of.computing_ns + of.handler_ns;
    let awake = u128::from(busy + of.waiting_ns).max(1);
    let part = u128::from(of.run_delay_ns) * u128::from(busy) / awake;
    busy.min(u64::try_from(part).unwrap_or(u64::MAX))
}
