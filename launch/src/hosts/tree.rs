//! Shape of the tree of agents: the agents that each agent starts.
//!
//! The launcher starts those of the first hosts, these those of the next ones, and so on, so that
//! no process has more than so many connections, and every host is behind few others. A host has a
//! higher number than those that it is behind.

use std::collections::BTreeMap;

use crate::messages::hosts::Below;

/// Connections of the launcher and of each agent, unless the job says something else.
pub(crate) const FAN_OUT: u16 = 16;

/// Number in place of a host's that stands for the launcher.
pub(crate) const LAUNCHER: u16 = u16::MAX;

/// Plan of a job's agents: the launcher starts `fan_out` of them, and each of these one less, since
/// it has a connection to who has started it. Of each host there is the name, and whether it is the
/// launcher's own, which needs no remote shell from there alone.
pub(crate) fn plan<'a>(hosts: &[(&'a str, bool)], fan_out: u16) -> Vec<Below> {
    let fan_out = fan_out.max(2);
    let own = hosts.iter().filter(|(_, is_here)| *is_here).count() as u16;
    // One at least, or there would be nobody to start the others.
    let (mut parent, mut room) = (LAUNCHER, fan_out.saturating_sub(own).max(1));
    let below = |(host, (name, is_here)): (u16, &(&'a str, bool))| {
        let mut parent_of = LAUNCHER;
        if !*is_here {
            if room == 0 {
                (parent, room) = (parent.wrapping_add(1), fan_out - 1);
            }
            (parent_of, room) = (parent, room - 1);
        }
        Below { host, parent: parent_of, name: (*name).into() }
    };
    (0..).zip(hosts).map(below).collect()
}

/// The hosts below `root` by the connection that leads to them: first the host at its other end,
/// then those that are behind it.
pub(crate) fn branches(root: u16, hosts: &[Below]) -> Vec<Vec<Below>> {
    let mut branch_of = BTreeMap::new();
    let mut branches: Vec<Vec<Below>> = Vec::new();
    for below in hosts {
        let branch = match branch_of.get(&below.parent) {
            Some(branch) => *branch,
            None if below.parent == root => {
                branches.push(Vec::new());
                branches.len() - 1
            }
            None => continue,
        };
        branch_of.insert(below.host, branch);
        branches[branch].push(below.clone());
    }
    branches
}

const _: () = assert!(LAUNCHER as usize >= crate::messages::HOSTS_MAX);
const _: () = assert!(LAUNCHER.wrapping_add(1) == 0, "after the launcher comes host 0");

#[cfg(test)]
mod tests;
