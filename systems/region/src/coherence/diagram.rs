//! The table as pictures: what `docs/internals/regions.md` shows, kept true by a test.

use super::table::{self, DirectoryEvent, DirectoryState, ReplicaEvent, ReplicaState, Rule};
use std::fmt::{Debug, Write};

/// The states of a replica and the ways between them, for Mermaid.
pub fn replica() -> String {
    diagram(&rules(ReplicaState::ALL, ReplicaEvent::ALL, table::replica))
}

/// The states of a directory and the ways between them, for Mermaid.
pub fn directory() -> String {
    diagram(&rules(DirectoryState::ALL, DirectoryEvent::ALL, table::directory))
}

type Rules<State, Event, Step> = Vec<(State, Event, Rule<State, Step>)>;

fn rules<State: Copy, Event: Copy, Step>(
    states: &[State],
    events: &[Event],
    rule: impl Fn(State, Event) -> Option<Rule<State, Step>>,
) -> Rules<State, Event, Step> {
    let pairs = states.iter().flat_map(|&state| events.iter().map(move |&event| (state, event)));
    pairs.filter_map(|(state, event)| Some((state, event, rule(state, event)?))).collect()
}

/// Rules that stay in their state are left out: there are many, and the table has them.
fn diagram<State: Debug + PartialEq, Event: Debug, Step: Debug>(
    rules: &Rules<State, Event, Step>,
) -> String {
    let mut text = "stateDiagram-v2\n".to_owned();
    for (state, event, rule) in rules.iter().filter(|(state, _, rule)| *state != rule.next) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "    {state:?} --> {:?}: {event:?}", rule.next);
    }
    text
}
