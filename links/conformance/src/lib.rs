//! Tests that every link must pass, whatever it is made of.
//!
//! A link's tests call [`all`] with a function that makes the links of a job, all in one process.
//! Checks that a link does not promise (order, losslessness) are left out by its capabilities.

#![deny(unsafe_code)]

mod bells;
mod bytes;
mod frames;

use bytes::{fill, read};
use weft_link::{Link, Payload, Received};
use weft_wire::{Header, Rank, Tag, TreeId};

/// Runs every check on links that `make` makes: one for each rank of a job of that size.
pub fn all<L: Link>(make: impl Fn(u16) -> Vec<L>) {
    all_but_turns(&make);
    frames::busy_senders_take_turns(&mut make(9));
}

/// Runs every check but that of fairness, for links on which a frame that was flushed may still be
/// with its sender: threads of the network's own send it, or faults hold it back.
pub fn all_but_turns<L: Link>(make: impl Fn(u16) -> Vec<L>) {
    alone_but_turns(&make);
    bells::an_arrival_wakes_a_sleeper(make(2));
    bells::a_look_for_a_frame_keeps_nobody_asleep(make(2));
    bells::a_frame_that_comes_back_wakes_its_owner(make(2));
    words::add_up(&make(3));
    words::mixed_operations_take_turns(&make(3));
    words::each_index_is_a_word_of_its_own(&make(2));
    words::wake_sleepers(make(2));
}

/// Runs the checks that need no second thread, for links on which time stands still while one
/// waits.
pub fn in_one_thread<L: Link>(make: impl Fn(u16) -> Vec<L>) {
    alone_but_turns(&make);
    frames::busy_senders_take_turns(&mut make(9));
}

fn alone_but_turns<L: Link>(make: impl Fn(u16) -> Vec<L>) {
    frames::carry_every_size(&mut make(2));
    frames::those_for_one_rank_carry_what_goes_there(&mut make(3));
    frames::keep_order(&mut make(3));
    frames::short_ones_keep_their_place(&mut make(2));
    frames::short_ones_are_taken_by_themselves(&mut make(2));
    frames::control_words_arrive(&mut make(2));
    frames::received_frames_are_forwarded(&mut make(3));
    frames::one_frame_serves_many(&mut make(4));
    frames::the_pool_runs_out_and_recovers(&mut make(2));
    frames::kept_frames_do_not_stop_others(&mut make(2));
    frames::detached_frames_keep_their_bytes(&mut make(2));
    frames::many_senders_are_all_heard(&mut make(9));
    bells::an_arrival_is_seen_before_sleeping(&mut make(2));
    bells::a_disarmed_bell_does_not_ring(&mut make(2));
}

mod words;

pub use frames::{share, transmit_short};

/// Sends `bytes` from `links[from]` to `to` as a unicast packet and gives the frame up.
pub(crate) fn send<L: Link>(links: &mut [L], from: u16, to: u16, bytes: &[u8]) {
    let link = &mut links[usize::from(from)];
    let buffer = link.alloc(None).expect("a frame is free");
    fill(link, buffer, bytes);
    let header = header(from, bytes.len());
    link.transmit(Rank(to), &header, Payload::Buffer(buffer));
    link.free(buffer);
    link.flush();
}

pub(crate) fn header(from: u16, size: usize) -> Header {
    Header::new(Tag::Ucast, Rank(from), TreeId::unicast(Rank(from)), size as u16)
}

/// The next frame at `links[at]`, which must come within a bounded number of looks.
pub(crate) fn receive<L: Link>(links: &mut [L], at: u16) -> Received {
    for _ in 0..1_000_000 {
        match links[usize::from(at)].receive() {
            Ok(Some(received)) => return received,
            Ok(None) => {
                // Some send only while their owner looks after them.
                links.iter_mut().for_each(Link::flush);
                std::thread::yield_now();
            }
            Err(violation) => panic!("{violation}"),
        }
    }
    panic!("rank {at} received nothing");
}

/// Receives a frame at `at`, reads its bytes, and gives it up.
pub(crate) fn receive_bytes<L: Link>(links: &mut [L], at: u16) -> (Rank, Vec<u8>) {
    let received = receive(links, at);
    let bytes = bytes_of(&links[usize::from(at)], &received);
    if let Payload::Buffer(buffer) = received.payload {
        links[usize::from(at)].free(buffer);
    }
    (received.header.source, bytes)
}

/// The user bytes of a received frame.
pub fn bytes_of<L: Link>(link: &L, received: &Received) -> Vec<u8> {
    match received.payload {
        Payload::Buffer(buffer) => read(link, buffer, usize::from(received.header.size)),
        other => panic!("a data frame came with {other:?}"),
    }
}

/// Bytes that tell where they came from.
pub(crate) fn pattern(seed: usize, size: usize) -> Vec<u8> {
    (0..size).map(|i| (seed * 31 + i * 7) as u8).collect()
}
