//! A message that is larger than memory. A process of its own, because its memory is limited.

#![allow(clippy::unwrap_used)]

#[path = "it/common.rs"]
#[allow(dead_code)]
mod common;

use common::run;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use weft_endpoint::Rank;
use weft_messaging::Error;
use weft_threads::Job;

const BYTES: usize = 256 << 20;
/// Memory for the reader besides that which this process has.
const LEFT: u64 = 96 << 20;

/// Bytes of addresses that this process has in use.
fn in_use() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = pages.split_whitespace().next().unwrap().parse().unwrap();
    pages * rustix::param::page_size() as u64
}

#[test]
fn the_reader_of_a_message_larger_than_memory_is_told_and_goes_on() {
    run(Job::new(2), |member| {
        let (large, small) = (member.mailbox("large"), member.mailbox("small"));
        let bytes = vec![1; if member.rank() == 1 { BYTES } else { 0 }];
        member.barrier.wait().unwrap();
        if member.rank() == 1 {
            large.send(0, &bytes).unwrap();
            small.send(0, "on").unwrap();
        } else {
            let before = getrlimit(Resource::As);
            let limit = Some(in_use() + LEFT);
            setrlimit(Resource::As, Rlimit { current: limit, ..before }).unwrap();
            let read = large.receive().unwrap().read_to_vec();
            setrlimit(Resource::As, before).unwrap();
            assert_eq!(read, Err(Error::NoMemory { from: Rank(1), bytes: BYTES as u64 }));
            // What is left of it was skipped, and its sender goes on.
            assert_eq!(small.receive().unwrap().text().unwrap(), "on");
        }
        member.barrier.wait().unwrap();
    });
}
