//! The agents of a job on this machine, by who has started whom.

use std::collections::BTreeMap;
use std::fs;

use crate::common;

/// Agents of a launcher, by process: the process above, of an agent or of the launcher.
#[derive(Debug)]
pub struct Agents(pub BTreeMap<i32, i32>);

impl Agents {
    pub fn of(launcher: i32) -> Self {
        let mut parents = BTreeMap::new();
        for entry in fs::read_dir("/proc").unwrap() {
            let name = entry.unwrap().file_name();
            let Some(process) = name.to_str().and_then(|name| name.parse::<i32>().ok()) else {
                continue;
            };
            // One that has just ended is of no interest.
            let Ok(stat) = fs::read_to_string(format!("/proc/{process}/stat")) else { continue };
            let fields = stat.rsplit_once(") ").unwrap().1;
            parents.insert(process, fields.split(' ').nth(1).unwrap().parse::<i32>().unwrap());
        }
        let is_agent = |process: &i32| {
            let command = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
            command.split(|byte| *byte == 0).nth(1) == Some(b"host-agent")
        };
        // Between two agents there may be shells.
        let above = |process: &i32| {
            let line = std::iter::successors(parents.get(process), |next| parents.get(next));
            line.copied().find(|next| *next == launcher || is_agent(next))
        };
        let agents = parents.keys().filter(|process| is_agent(process));
        let all: BTreeMap<i32, i32> =
            agents.filter_map(|process| Some((*process, above(process)?))).collect();
        // Those of this launcher only: other tests have theirs.
        let is_own = |process: &i32| {
            std::iter::successors(Some(process), |next| all.get(next)).any(|next| *next == launcher)
        };
        Agents(all.iter().filter(|(process, _)| is_own(process)).map(|(p, a)| (*p, *a)).collect())
    }

    pub fn below(&self, process: i32) -> Vec<i32> {
        let all = self.0.iter().filter(|(_, above)| **above == process);
        all.map(|(process, _)| *process).collect()
    }

    /// This one and all behind it.
    pub fn subtree(&self, process: i32) -> Vec<i32> {
        let mut all = vec![process];
        let mut next = 0;
        while next < all.len() {
            all.extend(self.below(all[next]));
            next += 1;
        }
        all
    }

    /// An agent that this one has started, or the launcher, with the most behind it.
    pub fn inner(&self, above: i32) -> i32 {
        let direct = self.below(above);
        direct.into_iter().max_by_key(|agent| self.subtree(*agent).len()).unwrap()
    }

    pub fn wait_until_gone(&self) {
        self.0.keys().for_each(|agent| common::wait_until_gone(*agent));
    }
}
