//! Moving frames.

use crate::bytes::{fill_to, payload_to, read};
use crate::{bytes_of, fill, header, pattern, receive, receive_bytes, send};
use weft_link::{
    Buffer, Capabilities, Gather, Link, Payload, ReceivedPlain, ShortPackets, ShortWords, TURN,
};
use weft_wire::{GroupId, Header, Rank, Tag, TreeId, atomic};

pub fn carry_every_size<L: Link>(links: &mut [L]) {
    let max = links[0].capabilities().max_payload;
    let inline = links[0].capabilities().inline_payload;
    let around = [inline.saturating_sub(1), inline, inline + 1, max / 2, max - 1, max];
    for size in (0..=130).chain(around).filter(|&size| size <= max) {
        send(links, 0, 1, &pattern(size, size));
        assert_eq!(receive_bytes(links, 1), (Rank(0), pattern(size, size)), "{size} bytes");
    }
    assert_eq!(links[1].receive(), Ok(None));
}

/// Frames for one receiver, more often than there are, so that each is reused.
pub fn those_for_one_rank_carry_what_goes_there<L: Link>(links: &mut [L]) {
    let Capabilities { frames, max_payload, .. } = *links[0].capabilities();
    for round in 0..2 * frames {
        let to = 1 + (round % 2) as u16;
        let most = payload_to(&mut links[0], Rank(to));
        assert!(most >= max_payload, "packets to one rank are no shorter than to any");
        let bytes = pattern(round, [most, 0, most / 2][round % 3]);
        let frame = links[0].alloc(Some(Rank(to))).expect("readers gave the frame back");
        fill_to(&mut links[0], Rank(to), frame, &bytes);
        let header = header(0, bytes.len());
        links[0].transmit(Rank(to), &header, Payload::Buffer(frame));
        links[0].free(frame);
        links[0].flush();
        assert_eq!(receive_bytes(links, to), (Rank(0), bytes));
    }
}

pub fn keep_order<L: Link>(links: &mut [L]) {
    if !links[0].capabilities().ordered {
        return;
    }
    let longest = links[0].capabilities().max_payload.min(300);
    let size = |i: usize| 1 + (i * 37) % longest;
    for round in 0..200usize {
        let burst = 1 + round % 16;
        for i in 0..burst {
            for from in [0, 2] {
                send(links, from, 1, &pattern(round * 16 + i, size(i)));
            }
        }
        let mut next = [0, 0, 0];
        for _ in 0..2 * burst {
            let (from, bytes) = receive_bytes(links, 1);
            let i = &mut next[from.index()];
            assert_eq!(bytes, pattern(round * 16 + *i, size(*i)));
            *i += 1;
        }
    }
}

/// Short frames, where the link has them and loses nothing, among others.
pub fn short_ones_keep_their_place<L: Link>(links: &mut [L]) {
    let Some(short) = L::SHORT.filter(|_| links[0].capabilities().lossless) else { return };
    let framed = links[0].capabilities().max_payload.min(100);
    for size in 0..=size_of::<ShortWords>() {
        let bytes = pattern(size, size);
        short.transmit(&mut links[0], Rank(1), &header(0, size), &[&bytes[..]]);
        send(links, 0, 1, &pattern(size + 1, framed));
        assert_eq!(receive_bytes(links, 1), (Rank(0), bytes));
        assert_eq!(receive_bytes(links, 1), (Rank(0), pattern(size + 1, framed)));
    }
}

/// Short frames, where they come by the way that is theirs alone.
pub fn short_ones_are_taken_by_themselves<L: Link>(links: &mut [L]) {
    let Some(short) = L::SHORT.filter(|short| short.are_taken_by(&links[0], Rank(1))) else {
        return;
    };
    let mut by_themselves = 0;
    for size in 0..=size_of::<ShortWords>() {
        for number in 0..3 {
            let bytes = pattern(size + number, size);
            short.transmit(&mut links[0], Rank(1), &header(0, size), &[&bytes[..]]);
        }
        for number in 0..3 {
            let received = match take_short(&mut links[1], short) {
                Some(received) => {
                    by_themselves += 1;
                    received
                }
                None => receive_bytes(links, 1),
            };
            assert_eq!(received, (Rank(0), pattern(size + number, size)));
        }
    }
    assert!(by_themselves > 0, "none was taken by itself");
}

/// The next packet's sender and bytes, if the packet comes by the way of short ones.
fn take_short<L: Link>(link: &mut L, short: L::Short) -> Option<(Rank, Vec<u8>)> {
    let plain = match short.peek(link) {
        Some(plain) => {
            short.take(link, &plain);
            plain
        }
        None => match short.receive(link) {
            ReceivedPlain::Short(plain) => plain,
            ReceivedPlain::Framed(..) => panic!("a short packet came in a frame"),
            ReceivedPlain::Nothing | ReceivedPlain::Other => return None,
        },
    };
    let buffer = short.store(link, &plain);
    let bytes = read(link, buffer, plain.size.into());
    link.free(buffer);
    Some((plain.source, bytes))
}

pub fn control_words_arrive<L: Link>(links: &mut [L]) {
    let tree = TreeId::unicast(Rank(0));
    for (tag, size, payload) in [
        (Tag::FaRequest, 0, Payload::Words([3, u64::MAX, 0])),
        (Tag::FaRequest, atomic::WORDS_BYTES, Payload::Words([3, u64::MAX, 5])),
        (Tag::FaReply, 0, Payload::Words([0, 7, 0])),
        (Tag::Credit, 0, Payload::Empty),
    ] {
        let mut header = Header::new(tag, Rank(0), tree, size as u16);
        header.credits = 9;
        links[0].transmit(Rank(1), &header, payload);
        links[0].flush();
        let received = receive(links, 1);
        assert_eq!((received.header, received.payload), (header, payload));
    }
}

/// A frame received from one rank is transmitted to the next, without its bytes being copied by us.
pub fn received_frames_are_forwarded<L: Link>(links: &mut [L]) {
    let max = links[0].capabilities().max_payload;
    for size in [0, 1, 8, 64, 1024, max].into_iter().filter(|&size| size <= max) {
        let bytes = pattern(size, size);
        let tree = TreeId::multicast(GroupId::ALL, Rank(0));
        let mut header = Header::new(Tag::Mcast, Rank(0), tree, size as u16);
        let frame = links[0].alloc(None).expect("a frame is free");
        fill(&links[0], frame, &bytes);
        share(&mut links[0], frame, size as u16, &[Rank(0), Rank(1), Rank(2)]);
        links[0].transmit(Rank(1), &header, Payload::Buffer(frame));
        links[0].free(frame);
        links[0].flush();

        let at_forwarder = receive(links, 1);
        header.source = Rank(1);
        links[1].transmit(Rank(2), &header, at_forwarder.payload);
        assert_eq!(bytes_of(&links[1], &at_forwarder), bytes);
        let Payload::Buffer(buffer) = at_forwarder.payload else { panic!("no buffer") };
        links[1].free(buffer);
        links[1].flush();

        let at_leaf = receive(links, 2);
        assert_eq!(at_leaf.header, header);
        assert_eq!(bytes_of(&links[2], &at_leaf), bytes);
        let Payload::Buffer(buffer) = at_leaf.payload else { panic!("no buffer") };
        links[2].free(buffer);
    }
}

pub fn one_frame_serves_many<L: Link>(links: &mut [L]) {
    let Capabilities { max_payload, multicast_payload, frames, .. } = *links[0].capabilities();
    // More often than there are frames, so that each is reused: giving back has to work.
    for round in 0..2 * frames {
        let bytes = pattern(round, [max_payload, 16, multicast_payload][round % 3]);
        let frame = links[0].alloc(None).expect("readers gave the frame back");
        fill(&links[0], frame, &bytes);
        for to in 1..4 {
            let tree = TreeId::multicast(GroupId::ALL, Rank(0));
            let header = Header::new(Tag::Mcast, Rank(0), tree, bytes.len() as u16);
            links[0].transmit(Rank(to), &header, Payload::Buffer(frame));
        }
        links[0].free(frame);
        links[0].flush();
        for at in 1..4 {
            assert_eq!(receive_bytes(links, at), (Rank(0), bytes.clone()));
        }
    }
}

pub fn the_pool_runs_out_and_recovers<L: Link>(links: &mut [L]) {
    let frames = links[0].capabilities().frames;
    let mut held: Vec<_> = (0..frames).map_while(|_| links[0].alloc(None)).collect();
    assert_eq!(held.len(), frames, "the link says that it has {frames} frames");
    assert_eq!(links[0].alloc(None), None, "a frame was handed out twice");
    let mut different = held.clone();
    different.sort();
    different.dedup();
    assert_eq!(different.len(), frames, "a frame was handed out twice");
    let freed = held.pop().expect("frames were allocated");
    links[0].free(freed);
    assert_eq!(links[0].alloc(None), Some(freed));
    links[0].free(freed);
    for frame in held {
        links[0].free(frame);
    }
    send(links, 0, 1, b"again");
    assert_eq!(receive_bytes(links, 1).1, b"again");
}

/// A receiver may keep some frames for long while others come and go, and they must not change.
pub fn kept_frames_do_not_stop_others<L: Link>(links: &mut [L]) {
    let max = links[0].capabilities().max_payload;
    let mut kept = Vec::new();
    for (i, size) in [5, max, 48, 49].into_iter().enumerate() {
        send(links, 0, 1, &pattern(1000 + i, size));
        kept.push((receive(links, 1), pattern(1000 + i, size)));
    }
    for round in 0..2 * links[0].capabilities().frames {
        let bytes = pattern(round, 1 + round * 61 % max);
        send(links, 0, 1, &bytes);
        assert_eq!(receive_bytes(links, 1).1, bytes);
    }
    for (received, bytes) in kept {
        assert_eq!(bytes_of(&links[1], &received), bytes, "a kept frame was overwritten");
        let Payload::Buffer(buffer) = received.payload else { panic!("no buffer") };
        links[1].free(buffer);
    }
}

/// Transmits a short packet.
///
/// # Panics
/// If the link has none.
pub fn transmit_short<L: Link>(link: &mut L, to: Rank, header: &Header, bytes: &impl Gather) {
    let short = L::SHORT.expect("the link has short packets");
    short.transmit(link, to, header, bytes);
}

/// Registers the readers of a frame, where that is to be done.
pub fn share<L: Link>(link: &mut L, frame: Buffer, size: u16, readers: &[Rank]) {
    if let Some(frames) = link.shared_frames() {
        frames.share(frame, size, readers);
    }
}

fn detach<L: Link>(link: &mut L, frame: Buffer, size: u16) -> Buffer {
    link.shared_frames().map_or(frame, |frames| frames.detach(frame, size))
}

/// A frame that was detached keeps its bytes while its sender uses its memory again.
pub fn detached_frames_keep_their_bytes<L: Link>(links: &mut [L]) {
    let max = links[0].capabilities().max_payload;
    let mut detached = Vec::new();
    for round in 0..2 * links[0].capabilities().frames {
        let bytes = pattern(round, 1 + round * 61 % max);
        send(links, 0, 1, &bytes);
        let mut received = receive(links, 1);
        let Payload::Buffer(buffer) = received.payload else { panic!("no buffer") };
        received.payload = Payload::Buffer(detach(&mut links[1], buffer, received.header.size));
        detached.push((received, bytes));
    }
    for (received, bytes) in detached {
        assert_eq!(bytes_of(&links[1], &received), bytes);
        let Payload::Buffer(buffer) = received.payload else { panic!("no buffer") };
        links[1].free(buffer);
    }
}

/// No sender is forgotten, however many there are and however unevenly they send.
pub fn many_senders_are_all_heard<L: Link>(links: &mut [L]) {
    let ranks = links.len();
    let mut sent = vec![0usize; ranks];
    let mut heard = vec![0usize; ranks];
    for round in 0..3000usize {
        let from = 1 + (round * round / 7 + round / 300) % (ranks - 1);
        send(links, from as u16, 0, &pattern(sent[from], 8));
        sent[from] += 1;
        let backlog: usize = sent.iter().sum::<usize>() - heard.iter().sum::<usize>();
        for _ in 0..if round % 20 == 19 { backlog } else { backlog / 2 } {
            let (from, bytes) = receive_bytes(links, 0);
            assert_eq!(bytes, pattern(heard[from.index()], 8));
            heard[from.index()] += 1;
        }
    }
    while heard != sent {
        let (from, bytes) = receive_bytes(links, 0);
        assert_eq!(bytes, pattern(heard[from.index()], 8));
        heard[from.index()] += 1;
    }
    assert!(!links[0].has_arrivals());
}

/// Frames that each sender has under way, below.
const UNDER_WAY: usize = 4;

/// I15: of senders that always have something under way, none is passed over for another.
pub fn busy_senders_take_turns<L: Link>(links: &mut [L]) {
    let ranks = links.len();
    // Connections are made by the first frames.
    for from in 1..ranks {
        send(links, from as u16, 0, b"known");
        receive_bytes(links, 0);
    }
    for from in (1..ranks).cycle().take(UNDER_WAY * (ranks - 1)) {
        send(links, from as u16, 0, b"first");
    }
    // Frames of each sender, since the last frame of each other one.
    let mut taken = vec![vec![0; ranks]; ranks];
    let mut shares = vec![0; ranks];
    for _ in 0..400 * ranks {
        let (from, _) = receive_bytes(links, 0);
        shares[from.index()] += 1;
        taken[from.index()].fill(0);
        taken.iter_mut().for_each(|since| since[from.index()] += 1);
        i15_turns(&taken);
        send(links, from.0, 0, b"next");
    }
    assert!(shares[1..].iter().all(|share| (400..500).contains(share)), "{shares:?}");
    for _ in 0..UNDER_WAY * (ranks - 1) {
        receive_bytes(links, 0);
    }
}

fn i15_turns(taken: &[Vec<u32>]) {
    for (waiting, since) in taken.iter().enumerate().skip(1) {
        let (most, served) = since.iter().zip(0..).max().unwrap_or((&0, 0));
        assert!(*most < 2 * TURN, "I15: {most} frames of rank {served}, none of rank {waiting}");
    }
}
