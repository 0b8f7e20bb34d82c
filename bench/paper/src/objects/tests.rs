use super::{operation, write_latency, write_rate};
use crate::cluster::{
    INSTRUCTION_NS, MESSAGE_INSTRUCTIONS, OBJECT_INSTRUCTIONS, REGION_INSTRUCTIONS, Setup,
};
use crate::experiments::layers::call;
use crate::experiments::panda::{Broadcast, broadcast_latency, broadcast_rate};
use std::collections::BTreeMap;

/// Nanoseconds that the headers of an operation, some 50 bytes there and back, may take.
const HEADERS_NS: f64 = 2000.0;

/// A figure of the file may change by so much before `make test` fails.
const GROWTH: f64 = 0.02;

#[test]
fn charges_are_the_instructions_that_are_counted() {
    let file = include_str!("../../../instructions.toml");
    let figures: BTreeMap<&str, f64> = file
        .lines()
        .filter_map(|line| line.split_once(" = "))
        .filter_map(|(name, figure)| Some((name, figure.parse().ok()?)))
        .collect();
    let near = |charged: u64, more: &[&str], less: &[&str]| {
        let sum = |names: &[&str]| names.iter().map(|name| figures[name]).sum::<f64>();
        let (counted, slack) = (sum(more) - sum(less), GROWTH * (sum(more) + sum(less)));
        assert!((charged as f64 - counted).abs() <= slack, "{more:?}: {charged}, {counted}");
    };
    near(MESSAGE_INSTRUCTIONS.iter().sum(), &["message_handler"], &["packet"]);
    near(REGION_INSTRUCTIONS, &["region_miss_read"], &["packet", "packet"]);
    let charged = OBJECT_INSTRUCTIONS;
    near(charged.call, &["object_call"], &["call"]);
    near(charged.copy, &["object_write_in"], &["broadcast_in"]);
    near(charged.write + charged.copy, &["object_write_out"], &["broadcast_out"]);
}

#[test]
fn an_operation_takes_a_call_and_what_it_is_charged() {
    let setup = Setup::lfc(2);
    let (called, operated) = (call(&setup, 0).unwrap(), operation(&setup, 0).unwrap());
    let charged = (OBJECT_INSTRUCTIONS.call * INSTRUCTION_NS) as f64;
    let added = operated - called;
    assert!((charged..charged + HEADERS_NS).contains(&added.ceil()), "{called} {operated}");
    assert_eq!(operation(&setup, 0).unwrap(), operated);
}

/// The writer's part before its packets leave, and that of the last copy.
#[test]
fn a_write_takes_a_broadcast_and_what_it_is_charged() {
    let setup = Setup::lfc(4);
    let ordered = broadcast_latency(&setup, Broadcast::Ordered, 0).unwrap();
    let written = write_latency(&setup, 0).unwrap();
    let charged = ((OBJECT_INSTRUCTIONS.write + OBJECT_INSTRUCTIONS.copy) * INSTRUCTION_NS) as f64;
    let added = written - ordered;
    assert!((charged - 40.0..charged + HEADERS_NS).contains(&added), "{ordered} {written}");
    assert_eq!(write_latency(&setup, 0).unwrap(), written);
}

#[test]
fn large_arrays_are_written_nearly_as_fast_as_they_are_broadcast() {
    let setup = Setup::lfc(4);
    let broadcast = broadcast_rate(&setup, Broadcast::Ordered, 64 << 10).unwrap();
    let written = write_rate(&setup, 64 << 10).unwrap();
    assert!(written < broadcast && written > 0.8 * broadcast, "{broadcast} {written}");
}
