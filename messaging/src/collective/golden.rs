//! Bytes of what members of a team say, besides what all collective operations say.

use super::agreeing::EntryKind;
use super::growing;
use weft_golden::{Entries, add};

/// Kind after this one, or the first. **A new one is told from the others here.**
fn next(kind: Option<EntryKind>) -> Option<EntryKind> {
    match kind {
        None => Some(EntryKind::Operation),
        Some(EntryKind::Operation) => Some(EntryKind::Agree),
        Some(EntryKind::Agree) => Some(EntryKind::Shrink),
        Some(EntryKind::Shrink) => Some(EntryKind::Leave),
        Some(EntryKind::Leave) => None,
    }
}

/// Adds them to the list.
pub(crate) fn add_to(entries: &mut Entries) {
    let kinds = std::iter::successors(next(None), |kind| next(Some(*kind)));
    for kind in kinds {
        add(entries, format!("agreement about {kind:?}"), (kind as u64).to_le_bytes());
    }
    growing::tests::add_to(entries);
}
