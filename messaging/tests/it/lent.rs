//! Long messages, whose packets leave from the program's memory.

use crate::common::{Member, interrupted, run};
use std::sync::Barrier;
use weft_messaging::{HeaderStack, Mailbox};
use weft_protocol::Preset;
use weft_threads::{Between, Job};

/// Two ranks with datagrams, and connections for long packets.
fn long(preset: Preset) -> Job {
    Job { between: Between::Long, preset, ..interrupted(2) }
}

/// Bytes of message `number`.
fn pattern(number: usize, size: usize) -> Vec<u8> {
    (0..size).map(|i| (number * 31 + i * 7 + i / 251) as u8).collect()
}

/// Long messages of all kinds of lengths: of whole packets, and of some bytes more or less.
const SIZES: [usize; 6] = [262_144, 262_145, 65_448 * 5, 1 << 20, (1 << 20) + 3, 5_000_001];

fn send_all(member: &Member, mailbox: &Mailbox, sizes: &[usize]) {
    for (number, &size) in sizes.iter().enumerate() {
        let mut bytes = pattern(number, size);
        let mut headers = HeaderStack::new();
        headers.push(&(number as u64).to_le_bytes()).unwrap();
        mailbox.send_with(member.other(), &headers, &bytes[..]).unwrap();
        // It is the program's again.
        bytes.fill(0xee);
        std::hint::black_box(&bytes);
    }
}

fn receive_all(mailbox: &Mailbox, sizes: &[usize]) {
    for (number, &size) in sizes.iter().enumerate() {
        let mut message = mailbox.receive().unwrap();
        assert_eq!(message.headers().pop(), Some((number as u64).to_le_bytes()));
        assert_eq!(message.len(), size);
        assert!(message.read_to_vec().unwrap() == pattern(number, size), "message {number}");
    }
}

#[test]
fn memory_may_change_once_a_long_message_was_sent() {
    for preset in Preset::RETRANSMITTING {
        run(long(preset), |member| {
            let mailbox = member.mailbox("long");
            match member.rank() {
                0 => send_all(member, &mailbox, &SIZES),
                _ => receive_all(&mailbox, &SIZES),
            }
        });
    }
}

#[test]
fn both_may_send_long_messages_before_they_read() {
    run(long(Preset::Pupa), |member| {
        let mailbox = member.mailbox("long");
        send_all(member, &mailbox, &SIZES);
        receive_all(&mailbox, &SIZES);
    });
}

#[test]
fn what_its_receiver_does_not_acknowledge_is_copied() {
    let sent = Barrier::new(2);
    let job = Job { interrupt_delay: None, ..long(Preset::Pupa) };
    run(job, |member| {
        let mailbox = member.mailbox("long");
        let size = SIZES[0];
        if member.rank() == 0 {
            let mut bytes = pattern(0, size);
            mailbox.send(member.other(), &bytes[..]).unwrap();
            bytes.fill(0xee);
            sent.wait();
        } else {
            // It does nothing at all until all was sent.
            sent.wait();
            let mut message = mailbox.receive().unwrap();
            assert!(message.read_to_vec().unwrap() == pattern(0, size));
        }
    });
}
