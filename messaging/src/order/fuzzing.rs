//! Fuzz target for what members of an order say (`testing/fuzz`): numbers in any order, and counts
//! of what they have consumed.

use super::envelope::Envelope;
use super::sequence::Sequence;
use super::window::{OrderWindow, Outstanding};
use std::collections::BTreeMap;

/// A script of messages for one member of an order: each has who sent it, how far its number is
/// from the one that is due, and whether it may be handed over at once. What is handed over has
/// consecutive numbers, of what waits there is a bound, and what is refused has changed nothing.
pub fn order(data: &[u8]) {
    let (head, script) = data.split_at(data.len().min(2));
    let [members, limit] = [0, 1].map(|at| 1 + usize::from(head.get(at).copied().unwrap_or(0) % 6));
    let mut sequence = Sequence::new(members, limit as u64);
    let window = OrderWindow { messages: limit as u64, ..OrderWindow::default() };
    let mut outstanding = Outstanding::new(members, window);
    let mut waiting: BTreeMap<u64, usize> = BTreeMap::new();
    for bytes in script.chunks_exact(Envelope::SIZE) {
        let envelope = Envelope::parse(bytes.try_into().unwrap_or_default());
        assert_eq!(envelope.emit(), bytes);
        let member = usize::from(bytes[15]) % members;
        outstanding.consumed_by(member, envelope.consumed);
        // Most numbers are near the one that is due; a member may claim any.
        let next = sequence.next();
        let number = match bytes[14] % 4 {
            0 => envelope.number.unwrap_or(u64::MAX),
            _ => next.saturating_add((u64::from(bytes[0]) % 8).saturating_sub(1)),
        };
        // A member hands over at once only while nothing that is due waits.
        let pass = bytes[14] & 0x80 != 0 && !waiting.contains_key(&next);
        match sequence.arrive(member, number, (number, member), pass) {
            Ok(Some(item)) => assert_eq!((item, pass), ((next, member), true)),
            Ok(None) => assert_eq!(waiting.insert(number, member), None),
            Err((_, item)) => assert_eq!((item, sequence.next()), ((number, member), next)),
        }
        let of_member = waiting.values().filter(|other| **other == member).count();
        assert!(of_member <= limit, "{of_member} of one member wait");
        if bytes[14] & 0x40 == 0 {
            while let Some((number, item)) = sequence.take() {
                assert_eq!(waiting.remove(&number), Some(item.1));
                assert_eq!(item.0, number);
                assert_eq!(number + 1, sequence.next());
            }
        }
    }
    assert_eq!(sequence.abandon().count(), waiting.len());
}
