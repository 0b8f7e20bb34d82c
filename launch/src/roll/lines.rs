//! A roll call in lines for a person.

use super::clauses::{groups, line};
use super::verdict;
use crate::messages::{Doing, Standing};

/// The roll call of a job of so many ranks in lines for a person: who keeps the others, then what
/// each does, ranks that do the same in one line, the fewest first.
pub(crate) fn lines(all: &[Standing], ranks: u16) -> Vec<String> {
    let mut lines = verdict::lines(all, ranks);
    let there: Vec<_> = all.iter().filter(|standing| standing.doing != Doing::HasLeft).collect();
    let groups = groups(&there);
    lines.extend(groups.iter().map(|(doing, group)| line(doing, group) + &stack(group)));
    lines
}

/// The stack of one of those that do the same, as the end of a line.
fn stack(group: &[&Standing]) -> String {
    let Some(standing) = group.iter().find(|standing| standing.stack.is_some()) else {
        return String::new();
    };
    let stack = standing.stack.as_deref().unwrap_or_default();
    match group.len() {
        1 => format!("; its stack: {stack}"),
        _ => format!("; the stack of rank {}: {stack}", standing.rank),
    }
}
