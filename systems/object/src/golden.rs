//! Bytes of messages of objects, which ranks of other builds read: `systems/object/golden.txt` has
//! them.

use crate::copy::Fault;
use crate::deadlock::Watch;
use crate::format::{Creation, End, Fork, Invocation, Ordered, Place, REPLY, Reply, Why};
use crate::fuzzing::emit;
use crate::marshal;
use crate::placement::Site;
use std::collections::BTreeSet;
use std::path::Path;
use weft_endpoint::Rank;
use weft_golden::{BETWEEN_RANKS, Entries, add, hold, variant};

const OBJECT: u64 = 0x0102_0304_0506_0708;
const NUMBER: u64 = 0x1112_1314_1516_1718;
const HOME: Site = Site::Single(Rank(0x2122));
const PLACE: Place = Place { object: OBJECT, site: HOME };
const BYTES: &[u8] = b"bytes";

/// Reasons for a change of placement, all that are read.
fn reasons() -> impl Iterator<Item = Why> {
    let mut bytes = PLACE.emit(Why::Fixed);
    let reason = move |byte| {
        bytes[1] = byte;
        match Ordered::parse(&bytes)? {
            Ordered::Place(_, why) => Some(why),
            _ => None,
        }
    };
    (0..=u8::MAX).filter_map(reason)
}

/// A message of each kind of the order, by its name, and more of kinds with flags.
fn messages() -> Vec<(String, Ordered<'static>)> {
    let creation = || Creation {
        site: HOME,
        is_automatic: false,
        is_named: true,
        name: "name",
        kind: "kind of it",
        state: BYTES,
    };
    let invocation =
        Invocation { operation: 0x3132, object: OBJECT, call: NUMBER, number: 0x4142_4344 };
    let fork = Fork { is_main: false, on: Rank(0x2122), name: "name" };
    let end = End { process: NUMBER, has_failed: false };
    let plain = [
        Ordered::Create(creation()),
        Ordered::Invoke(invocation, BYTES),
        Ordered::Fork(fork, BYTES),
        Ordered::End(end, b""),
        Ordered::State(PLACE, Some(BYTES)),
        Ordered::Reads(OBJECT, NUMBER),
        Ordered::Delete(OBJECT),
        Ordered::Probe,
        Ordered::Answer(NUMBER, BYTES),
    ];
    let replicated = Creation { site: Site::Replicated, ..creation() };
    let flagged = [
        ("Create, replicated", Ordered::Create(replicated)),
        ("Create, automatic", Ordered::Create(Creation { is_automatic: true, ..creation() })),
        ("Create without a name", Ordered::Create(Creation { is_named: false, ..creation() })),
        ("Fork of a program", Ordered::Fork(Fork { is_main: true, ..fork }, BYTES)),
        ("End with a fault", Ordered::End(End { has_failed: true, ..end }, BYTES)),
        ("State that stays", Ordered::State(PLACE, None)),
    ];
    let places = reasons().map(|why| (format!("Place, {why:?}"), Ordered::Place(PLACE, why)));
    let plain = plain.map(|message| (variant(&message), message));
    let flagged = flagged.into_iter().map(|(name, message)| (name.to_owned(), message));
    plain.into_iter().chain(flagged).chain(places).collect()
}

/// Faults, all that a reply may be about.
fn faults() -> impl Iterator<Item = Option<Fault>> {
    let fault = |byte| {
        let mut reply = [0; REPLY];
        reply[0] = byte;
        let fault = Reply::parse(&reply).fault;
        // Bytes that stand for nothing are read as that one, too.
        let is_own = Reply { fault: fault.clone(), seen: 0 }.emit()[0] == byte;
        is_own.then_some(fault)
    };
    (0..=u8::MAX).filter_map(fault)
}

fn add_replies(entries: &mut Entries) {
    for fault in faults() {
        let name = fault.as_ref().map_or_else(|| "well".to_owned(), variant);
        add(entries, format!("reply, {name}"), Reply { fault, seen: NUMBER }.emit());
    }
    let moved = Reply { fault: Some(Fault::Moved(BYTES.into())), seen: NUMBER };
    assert_eq!(Reply::parse(&moved.emit()).answer(BYTES.into()), moved.answer(BYTES.into()));
}

/// Adds arguments and results, which are of programs, and an answer to the question whether all
/// processes wait.
fn add_contents(entries: &mut Entries) {
    let values = (0x0102_0304_u32, "text", -5_i16);
    add(entries, "values", marshal::values(&values).unwrap());
    add(entries, "array", marshal::array(&[0x0102_u16, 0x1112]));
    let mut result = Vec::new();
    marshal::put(&values, &mut result);
    add(entries, "result", result);
    add(entries, "state", marshal::capture(&values));
    let watch = Watch::default();
    watch.waits(NUMBER, (0x2122_2324, OBJECT, 0x3132));
    let answer = watch.answer(true, vec![(0x4142, 0x5152_5354)]);
    add(entries, "what a rank answers", answer);
}

#[test]
fn all_is_written_as_other_builds_read_it() {
    let mut entries = Entries::new();
    for (name, message) in messages() {
        add(&mut entries, format!("message {name}"), emit(&message));
    }
    add_replies(&mut entries);
    add_contents(&mut entries);
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden.txt");
    hold(&list, &entries, BETWEEN_RANKS);
}

#[test]
fn all_kinds_that_are_read_are_in_the_list() {
    let messages = messages();
    let listed: BTreeSet<u8> = messages.iter().map(|(_, message)| emit(message)[0]).collect();
    let is_read = |kind: &u8| {
        (0..40).any(|length| Ordered::parse(&[&[*kind][..], &vec![0; length]].concat()).is_some())
    };
    assert_eq!((0..=u8::MAX).filter(is_read).collect::<BTreeSet<u8>>(), listed);
}
