//! Tests of files of events.

use super::*;
use crate::event::{Recorder, record_text};
use proptest::prelude::*;
use std::cell::RefCell;
use std::sync::Mutex;

/// Keeps what is recorded, a nanosecond apart.
#[derive(Default)]
struct Kept(Mutex<Vec<EventWords>>);

impl Recorder for Kept {
    fn record(&self, what: &What) {
        let mut kept = self.0.lock().unwrap();
        let event = Event { time: kept.len() as u64, what: *what };
        kept.push(event.to_words());
    }
}

fn run() -> Run {
    Run { program: "ring 8".into(), hosts: vec!["a".into(), "b".into()], ..Run::default() }
}

fn written(blocks: &[(u16, u64, Vec<EventWords>)]) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), &run()).unwrap();
    for (rank, lost, events) in blocks {
        writer.append(Rank(*rank), *lost, events).unwrap();
    }
    writer.finish().unwrap()
}

#[test]
fn a_trace_is_read_as_it_was_written() {
    let kept = Kept::default();
    record_text(&kept, NamedThing::Port, 7, "the rows of the matrix");
    kept.record(&What::WaitBegins);
    record_text(&kept, NamedThing::Wait, 0, "a message on port 'rows'");
    kept.record(&What::WaitEnds);
    kept.record(&What::SpanBegins(1));
    let words = kept.0.into_inner().unwrap();
    // A text may lie across blocks.
    let (first, second) = words.split_at(1);
    let bytes = written(&[(1, 0, first.to_vec()), (0, 3, vec![]), (1, 5, second.to_vec())]);
    let lost = RankTrace { lost: 3, gaps: [0].into(), ..RankTrace::default() };
    let trace = Trace::read(&*bytes).unwrap();
    assert_eq!((&trace.run, trace.is_cut), (&run(), false));
    assert_eq!(trace.ranks[0], lost);
    let RankTrace { events, lost, gaps, names, waits } = &trace.ranks[1];
    let kinds: Vec<_> = events.iter().map(|event| event.what).collect();
    assert_eq!(kinds, [What::WaitBegins, What::WaitEnds, What::SpanBegins(1)]);
    assert_eq!((*lost, gaps.first()), (5, Some(&0)));
    assert_eq!(names[&(NamedThing::Port, 7)], "the rows of the matrix");
    assert_eq!(waits[&0], "a message on port 'rows'");
}

#[test]
fn of_a_file_that_ends_early_the_beginning_is_read() {
    let event = Event { time: 1, what: What::WaitBegins }.to_words();
    let bytes = written(&[(0, 0, vec![event; 3])]);
    let trace = Trace::read(&bytes[..bytes.len() - 41]).unwrap();
    assert_eq!((trace.is_cut, trace.ranks[0].events.len()), (true, 1));
}

#[test]
fn parts_are_one_trace() {
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("the.trace");
    let run = Run { parts: 2, ..run() };
    for rank in 0..2u16 {
        let mut writer = Writer::create(&part_of(&whole, rank), &run).unwrap();
        let event = Event { time: rank.into(), what: What::WaitBegins };
        writer.append(Rank(rank), rank.into(), &[event.to_words()]).unwrap();
        writer.finish().unwrap();
    }
    let trace = Trace::open(&whole).unwrap();
    let times: Vec<_> = trace.ranks.iter().map(|rank| (rank.events[0].time, rank.lost)).collect();
    assert_eq!(times, [(0, 0), (1, 1)]);
    std::fs::remove_file(part_of(&whole, 1)).unwrap();
    assert!(Trace::open(&whole).is_err());
    assert!(Trace::open(&folder.path().join("none")).is_err());
}

#[test]
fn other_files_are_refused() {
    let said = |bytes: &[u8]| Trace::read(bytes).unwrap_err().to_string();
    assert!(said(b"").contains("no trace of Weft's"));
    assert!(said(b"weft trace 1\n{}\n").contains("damaged or cut off"));
    let event = Event { time: 1, what: What::WaitBegins }.to_words();
    let damaged = said(&written(&[(9, 0, vec![event])]));
    assert!(damaged.contains("a block of 1 events of rank 9, of 2 ranks"), "{damaged}");
    let damaged = said(&written(&[(1, 0, vec![[0; WORDS]])]));
    assert!(damaged.contains("an event of rank 1 is none"), "{damaged}");
}

proptest! {
    #[test]
    fn any_bytes_are_a_trace_or_an_error(bytes: Vec<u8>) {
        let file = RefCell::new(written(&[]));
        file.borrow_mut().extend(bytes);
        let _ = Trace::read(&**file.borrow());
    }
}

#[test]
fn a_file_has_one_writer_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.weft");
    std::fs::write(&file, [0; 10_000]).unwrap();
    let mut first = Writer::create(&file, &run()).unwrap();
    first.append(Rank(0), 7, &[]).unwrap();
    first.flush().unwrap();
    let second = Writer::create(&file, &run()).unwrap_err();
    assert_eq!(second.kind(), io::ErrorKind::ResourceBusy);
    assert_eq!(Trace::open(&file).unwrap().ranks[0].lost, 7, "nothing of it is lost");
    drop(first);
    drop(Writer::create(&file, &run()).unwrap());
    assert_eq!(Trace::open(&file).unwrap().ranks[0], RankTrace::default());
    // A device has no length.
    drop(Writer::create(Path::new("/dev/null"), &run()).unwrap());
}
