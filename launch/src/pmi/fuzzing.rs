//! Fuzz target for what is read from a process manager (`testing/fuzz`): any bytes, and a panic if
//! a parser does what it must not.

use crate::pmi::wire::{
    Arrived, FIELDS_MAX, REPLY_BYTES_MAX, Reply, VALUE_BYTES_MAX, Version, from_digits, parts,
};

/// Answers of a process manager. The first byte says which version it speaks, and how many bytes
/// arrive at a time.
pub fn process_manager(data: &[u8]) {
    let Some((&first, bytes)) = data.split_first() else { return };
    let version = if first & 1 == 0 { Version::One } else { Version::Two };
    let mut arrived = Arrived::default();
    for some in bytes.chunks(usize::from(first / 2).max(1)) {
        arrived.push(some);
        while let Ok(Some(message)) = arrived.next(version) {
            assert!(message.len() <= REPLY_BYTES_MAX);
            let Ok(reply) = Reply::parse(version, &message) else { continue };
            assert!(reply.fields() <= FIELDS_MAX);
            reply.refusal();
            let Some((count, digits)) = reply.get("value").and_then(parts) else { continue };
            assert!((1..=VALUE_BYTES_MAX).contains(&count));
            let value = from_digits(digits);
            assert!(value.is_none_or(|value| value.len() <= VALUE_BYTES_MAX));
        }
    }
}
