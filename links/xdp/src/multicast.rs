//! Ethernet's own multicast: one frame leaves, and switches copy it.
//!
//! The kernel gives a frame to one socket, so a group's address says which of the ranks of each
//! host gets the copy: the *n*-th. Ranks of one host are never copies of one another (they have
//! shared memory).

use crate::interface::MacAddress;
use std::collections::BTreeMap;
use weft_wire::Rank;

/// The first byte of addresses of groups that no maker of hardware has given out.
const LOCAL_GROUP: u8 = 0b11;

/// The address of what the first ranks of all hosts get in the job with this number. Other jobs may
/// have the same; their frames have another number in them, and other keys.
pub fn group_of(job: u32) -> MacAddress {
    let [_, first, second, third] = job.to_be_bytes();
    MacAddress([LOCAL_GROUP, first, second, third, 0, 0])
}

/// Multicast address for the ranks with this number on each host, from 0.
pub fn of_place(group: MacAddress, place: u16) -> MacAddress {
    let MacAddress([head @ .., _, _]) = group;
    let ([a, b, c, d], [high, low]) = (head, place.to_be_bytes());
    MacAddress([a, b, c, d, high, low])
}

/// By rank: which of the ranks of its host it is, given the interface of each rank. A host does not
/// hear itself, so those of this one have no such number.
pub(crate) fn places_of(own: Rank, interfaces: &[MacAddress]) -> Vec<Option<u16>> {
    let here = interfaces.get(own.index());
    let mut seen = BTreeMap::new();
    let mut place = |interface: &MacAddress| {
        let next = seen.entry(*interface).or_insert(0);
        *next += 1;
        (Some(interface) != here).then_some(*next - 1)
    };
    interfaces.iter().map(&mut place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_local_addresses_of_their_job_and_place() {
        let group = group_of(0x0102_03ff);
        assert_eq!(group.to_string(), "03:02:03:ff:00:00");
        assert_eq!(of_place(group, 0), group);
        assert_eq!(of_place(group, 0x0107).to_string(), "03:02:03:ff:01:07");
    }

    #[test]
    fn ranks_are_numbered_on_each_host_but_their_own() {
        let [a, b, c] = [1, 2, 3].map(|last| MacAddress([2, 0, 0, 0, 0, last]));
        let all = [a, b, b, a, c, b];
        let found = places_of(Rank(3), &all);
        assert_eq!(found, [None, Some(0), Some(1), None, Some(0), Some(2)]);
        assert_eq!(places_of(Rank(4), &all)[..2], [Some(0), Some(0)]);
    }
}
