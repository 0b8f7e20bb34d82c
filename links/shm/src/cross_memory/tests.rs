#![allow(clippy::unwrap_used)]

use super::*;
use crate::segment::{Settings, create_memory};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

/// Memory of a job of some ranks, which each of them maps.
struct Job {
    memory: OwnedFd,
    settings: Settings,
}

impl Job {
    fn new() -> Self {
        Job::of(2)
    }

    fn of(ranks: u16) -> Self {
        let settings = Settings { frames: 2, ..Settings::new(ranks) };
        Job { memory: create_memory(&settings).unwrap(), settings }
    }

    fn segments(&self, own: u16) -> Vec<Segment> {
        Segment::map_all(&self.memory, self.settings, Some(Rank(own))).unwrap()
    }

    fn rank(&self, own: u16) -> Processes {
        Processes::new(Rank(own), &self.segments(own))
    }
}

fn address(bytes: &[u8]) -> u64 {
    bytes.as_ptr().expose_provenance() as u64
}

#[test]
fn bytes_come_out_of_another_rank() {
    let job = Job::new();
    let (one, two) = (job.rank(0), job.rank(1));
    let bytes: Vec<u8> = (0..100_000).map(|at| (at % 251) as u8).collect();
    let mut into = vec![0; bytes.len()];
    assert!(!two.is_read_by(Rank(0)));
    assert!(one.fetch(Rank(1), address(&bytes), &mut into));
    assert_eq!(into, bytes);
    assert!(two.is_read_by(Rank(0)));
    assert!(!one.is_read_by(Rank(1)), "it has fetched nothing");
}

#[test]
fn who_has_read_whose_memory_is_known_of_more_ranks_than_a_word_has_bits() {
    let job = Job::of(70);
    let (one, last) = (job.rank(2), job.rank(69));
    let (bytes, mut into) = ([7; 10], [0; 10]);
    assert!(one.fetch(Rank(69), address(&bytes), &mut into));
    assert_eq!(into, bytes);
    assert!(last.is_read_by(Rank(2)));
    assert!(!job.rank(5).is_read_by(Rank(2)), "nor rank 69 - 64");
}

#[test]
fn nothing_comes_from_where_nothing_lies() {
    let job = Job::new();
    let (one, two) = (job.rank(0), job.rank(1));
    let mut into = [0; 100];
    for address in [0, 1, u64::MAX, u64::MAX - 50] {
        assert!(!one.fetch(Rank(1), address, &mut into), "{address:x}");
    }
    assert!(two.is_read_by(Rank(0)), "it could have");
    assert!(one.fetch(Rank(1), 0, &mut []));
    assert!(!one.fetch(Rank(7), 0, &mut []), "there is no such rank");
    assert!(!one.is_read_by(Rank(7)));
}

#[test]
fn a_rank_without_a_card_is_out_of_reach_for_good() {
    let job = Job::new();
    let one = job.rank(0);
    assert!(!one.fetch(Rank(1), 0, &mut []));
    let two = job.rank(1);
    assert!(!one.fetch(Rank(1), 0, &mut []));
    assert!(!two.is_read_by(Rank(0)));
}

#[test]
fn another_process_is_found_out() {
    let job = Job::new();
    let (one, two) = (job.rank(0), job.rank(1));
    let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
    job.segments(1)[1].identity().process[0].store(u64::from(child.id()), Ordering::Release);
    assert!(!one.fetch(Rank(1), 0, &mut []));
    assert!(!two.is_read_by(Rank(0)));
    drop(child.stdin.take());
    child.wait().unwrap();
}

#[test]
fn a_token_that_is_not_there_is_found_out() {
    let job = Job::new();
    let (one, _two) = (job.rank(0), job.rank(1));
    job.segments(1)[1].identity().token[1].fetch_xor(1, Ordering::Relaxed);
    assert!(!one.fetch(Rank(1), 0, &mut []));
}

#[test]
fn what_yama_forbids_is_known() {
    for (scope, is_root) in [("", false), ("0", false), ("1", true), ("2", true)] {
        assert_eq!(restriction(scope, is_root), None, "{scope}");
    }
    for (scope, is_root) in [("1", false), ("2", false), ("3", true), ("9", true)] {
        let said = restriction(scope, is_root).unwrap();
        assert!(said.starts_with(&format!("kernel.yama.ptrace_scope is {scope},")), "{said}");
    }
}

#[test]
fn a_process_that_is_none_is_found_out() {
    for process in [0, u64::from(u32::MAX), u64::MAX, 1 << 32 | 1] {
        let job = Job::new();
        let (one, _two) = (job.rank(0), job.rank(1));
        job.segments(1)[1].identity().process[0].store(process, Ordering::Release);
        assert!(!one.fetch(Rank(1), 0, &mut []), "{process:x}");
    }
}
