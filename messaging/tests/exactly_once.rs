//! Many messages through a bad network: each arrives once, in order and unchanged. `WEFT_MESSAGES` says how
//! many.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Member, run};
use std::time::Duration;
use weft_packet::Rank;
use weft_protocol::Preset;
use weft_threads::{Between, Job, Weather};

/// What `make test` sends; `make soak` sends ten million.
const MESSAGES: u64 = 50_000;
/// Messages that a rank sends before it takes as many.
const BATCH: u64 = 200;

fn bytes(from: u64, number: u64) -> ([u8; 80], usize) {
    let mut bytes = [(number * 31 + from) as u8; 80];
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    (bytes, 8 + (number % 73) as usize)
}

/// Sends half of all messages to the other rank, and takes the other half.
fn exchange(member: &Member, messages: u64) {
    let mailbox = member.mailbox("numbers");
    let me = member.rank() as u64;
    let (mut sent, mut taken) = (0, 0);
    while taken < messages / 2 {
        for number in sent..(sent + BATCH).min(messages / 2) {
            let (bytes, size) = bytes(me, number);
            mailbox.send(Rank(1 - me as u16), &bytes[..size]).unwrap();
        }
        sent = (sent + BATCH).min(messages / 2);
        while taken < sent {
            let (bytes, size) = bytes(1 - me, taken);
            let message = mailbox.receive().unwrap().read_to_vec().unwrap();
            assert_eq!(message, bytes[..size], "message {taken} of rank {}", 1 - me);
            taken += 1;
        }
    }
}

#[test]
fn every_message_arrives_once_and_in_order() {
    let asked = std::env::var("WEFT_MESSAGES").ok().map(|text| text.parse().unwrap());
    let messages = asked.unwrap_or(MESSAGES);
    let limit = Duration::from_secs(120 + messages / 2000);
    let between = Between::Udp(Weather::bad(41, 0.01));
    let interrupt_delay = Some(Duration::from_micros(50));
    let job = Job::over_udp(2, Preset::Pupa);
    run(Job { between, interrupt_delay, limit, ..job }, |member| {
        exchange(member, messages);
        let counters = member.engine.packets().statistics().protocol;
        assert!(messages < 10_000 || counters.retransmissions > 0, "the weather was fair");
    });
}
