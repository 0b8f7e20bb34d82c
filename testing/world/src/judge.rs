//! Judges of what programs see. They know what was sent to whom, and nothing of how it travels.

use crate::wire::Contents;
use std::collections::{BTreeMap, BTreeSet};
use weft_protocol::invariants::i3_order;
use weft_wire::{Rank, TreeId};

/// Judges deliveries (I3: once, in order, at all members and no others) and fetch-and-adds (each
/// adds once, to what another left behind).
#[derive(Debug, Default)]
pub struct Judge {
    sent: BTreeMap<(TreeId, Option<Rank>), u64>,
    missing: BTreeSet<(Rank, TreeId, u64)>,
    seen: BTreeMap<(Rank, TreeId), u64>,
    additions: BTreeMap<(Rank, u16), BTreeMap<u64, u64>>,
    fetched: BTreeMap<(Rank, Rank, u16), u64>,
    deliveries: u64,
}

impl Judge {
    /// The root of `tree` sends to `receivers`: what its packet says. A unicast packet is counted
    /// with those to the same rank, a multicast packet with those on the same tree.
    pub(crate) fn sends(&mut self, tree: TreeId, receivers: &[Rank]) -> Contents {
        let stream = (tree, tree.group().is_none().then(|| receivers[0]));
        let next = self.sent.entry(stream).or_default();
        let sequence = *next;
        *next += 1;
        self.missing.extend(receivers.iter().map(|&receiver| (receiver, tree, sequence)));
        Contents { tree, sequence, size: 1 + (sequence % 1000) as u16 }
    }

    /// The program at `receiver` is shown a packet of `size` bytes that says `contents`.
    pub(crate) fn shown(&mut self, receiver: Rank, tree: TreeId, size: u16, contents: &Contents) {
        assert_eq!((tree, size), (contents.tree, contents.size), "a header belies its packet");
        let last = self.seen.insert((receiver, tree), contents.sequence);
        i3_order(last, contents.sequence);
        assert!(
            self.missing.remove(&(receiver, tree, contents.sequence)),
            "I3 order: {receiver:?} was shown {contents:?}, which was not sent to it"
        );
        self.deliveries += 1;
    }

    /// `amount` was added for `by` to a variable of `home` that was `value` before.
    pub(crate) fn fetched(&mut self, by: Rank, fetch: (Rank, u16, u64), value: u64) {
        let (home, variable, amount) = fetch;
        let before = self.additions.entry((home, variable)).or_default().insert(value, amount);
        assert_eq!(before, None, "two fetch-and-adds of {home:?}'s {variable} found {value}");
        let last = self.fetched.insert((by, home, variable), value);
        assert!(last < Some(value), "{by:?} fetched {value} from {home:?} after {last:?}");
    }

    /// Packets that programs were shown so far.
    pub fn deliveries(&self) -> u64 {
        self.deliveries
    }

    /// Nothing is under way any more: everything sent was seen, every addition took place.
    pub(crate) fn all_is_done(&self) {
        assert!(self.missing.is_empty(), "never delivered: {:?}", self.missing);
        for ((home, variable), additions) in &self.additions {
            let mut next = 0;
            for (&value, &amount) in additions {
                assert_eq!(value, next, "an addition to {home:?}'s variable {variable} is missing");
                next = value + amount;
            }
        }
    }
}
