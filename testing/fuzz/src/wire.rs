//! Packet headers and message headers.

use arbitrary::{Result, Unstructured};
use weft_messaging::HeaderStack;
use weft_messaging::format::{self, PacketHeader};
use weft_messaging::rpc::format::{CallHeader, CallNumber};
use weft_wire::envelope::{self as frames, Foreign};
use weft_wire::{
    Atomic, Malformed, Rank, Tag, atomic, compact as slots, network as packets, several,
};

/// A packet as it comes from a network.
pub fn network(data: &[u8]) {
    match packets::parse(data) {
        Ok((header, payload)) => {
            assert_eq!(payload.len(), usize::from(header.size));
            let packet = [&packets::emit(&header)[..], payload].concat();
            assert_eq!(packets::parse(&packet), Ok((header, payload)));
            // All but the two bytes that say nothing, and padding after the packet.
            assert_eq!(packet[..14], data[..14]);
            assert_eq!(packet[16..], data[16..packet.len()]);
        }
        Err(Malformed::Short(bytes)) => assert!(bytes == data.len() && bytes < packets::SIZE),
        Err(Malformed::Size { announced, present }) => assert!(usize::from(announced) > present),
        Err(Malformed::Version(version)) => assert_ne!(version, packets::VERSION),
        Err(Malformed::Tag(tag)) => assert_eq!(tag, data[1]),
    }
}

/// A frame as it comes from a network, before anything is known of who sent it: an envelope, then
/// packets.
pub fn envelope(data: &[u8]) {
    let envelope = match frames::parse(data) {
        Ok(envelope) => envelope,
        Err(Foreign::Short) => return assert!(data.len() < frames::SIZE),
        Err(Foreign::Magic) => return assert_ne!(data[..2], frames::MAGIC),
        Err(Foreign::Version) => return assert_ne!(data[2], frames::VERSION),
    };
    assert_eq!(frames::emit(&envelope), data[..frames::SIZE]);
    let mut rest = &data[frames::SIZE..];
    if let Some(several::Contents { common, packet, entries }) = several::split(rest) {
        assert!((2..=several::MOST).contains(&entries.len()));
        assert_eq!(packet.len() + entries.len() * several::ENTRY, rest.len());
        for bytes in entries {
            let entry = several::parse(bytes);
            let again = several::emit(&entry);
            // All but the bits of the flags that say nothing.
            assert_eq!((&again[..6], &again[8..]), (&bytes[..6], &bytes[8..]));
            assert_eq!(several::destination(bytes), entry.destination);
            let header = entry.header(&common);
            assert_eq!(several::common(&header), several::common(&common));
            assert_eq!(
                several::emit(&several::Entry::new(entry.destination, &header))[..16],
                again[..16]
            );
        }
    }
    while let Ok((header, body, bytes)) = frames::first(rest) {
        assert_eq!(body.len(), frames::body_bytes(&header));
        assert_eq!(bytes, frames::packet_bytes(body.len()));
        if header.tag == Tag::FaRequest {
            request(atomic::from_bytes(body), body);
        }
        let mut packet = vec![0xff; bytes];
        assert_eq!(frames::put(&mut packet, &header, body), bytes);
        assert_eq!(frames::first(&packet), Ok((header, body, bytes)));
        rest = &rest[bytes..];
    }
}

/// Words of a request, and the body that they are in: who knows the operation writes the same.
fn request(words: atomic::Words, body: &[u8]) {
    assert!(atomic::to_bytes(words).starts_with(body));
    match Atomic::parse(words) {
        Ok((variable, operation)) => {
            let again = operation.to_words(variable);
            assert_eq!(again[..2], words[..2]);
            assert!(operation.size() == 0 || again == words);
        }
        Err(first) => assert!(first == words[0] && first >> 16 > 7),
    }
}

/// The two words of a slot in shared memory, and whose ring it was found in.
pub fn compact(data: &[u8]) {
    let Some(bytes) = data.first_chunk::<18>() else { return };
    let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
    let words = [word(0), word(8)];
    let source = Rank(u16::from_le_bytes([bytes[16], bytes[17]]));
    match slots::parse(words, source) {
        Ok(header) => {
            assert_eq!(header.source, source);
            let kind = slots::payload_kind(words[0]);
            assert_eq!(slots::emit(&header, slots::flag(words[0]), kind), words);
        }
        Err(malformed) => assert_eq!(malformed, Malformed::Tag(bytes[4])),
    }
}

/// The message header in a packet.
pub fn message_header(data: &[u8]) {
    let Some((header, bytes)) = PacketHeader::parse(data) else { return };
    assert!(header.bytes <= format::MAX_MESSAGE);
    assert_eq!(header.emit(), data[..format::SIZE]);
    assert_eq!(bytes, &data[header.bytes_at()..]);
}

/// The call header of a request or a reply.
pub fn rpc(data: &[u8]) {
    let Some(bytes) = data.first_chunk() else { return };
    let Some(CallHeader { kind, number }) = CallHeader::parse(*bytes) else {
        return assert!(!(1..=5).contains(&bytes[7]));
    };
    assert_eq!(CallHeader { kind, number }.emit(), *bytes);
    assert_eq!(CallNumber::new(number.slot(), number.generation()), Some(number));
}

/// A header stack that is pushed to and popped from.
pub fn header_stack(data: &[u8]) {
    let mut script = Unstructured::new(data);
    let _ = push_and_pop(&mut script);
}

fn push_and_pop(script: &mut Unstructured<'_>) -> Result<()> {
    let mut stack = HeaderStack::new();
    let mut expected: Vec<u8> = Vec::new();
    while !script.is_empty() {
        match script.arbitrary::<u8>()? {
            1 => pop::<1>(&mut stack, &mut expected),
            2 => pop::<2>(&mut stack, &mut expected),
            8 => pop::<8>(&mut stack, &mut expected),
            255 => pop::<255>(&mut stack, &mut expected),
            size => {
                let size = usize::from(size).min(script.len());
                let header = script.bytes(size)?;
                if stack.push(header).is_ok() {
                    expected.splice(0..0, header.iter().copied());
                }
            }
        }
        assert_eq!(stack.as_bytes(), expected);
        assert!(expected.len() <= 255);
    }
    Ok(())
}

fn pop<const N: usize>(stack: &mut HeaderStack, expected: &mut Vec<u8>) {
    let popped = stack.pop::<N>();
    let there = expected.first_chunk::<N>().copied();
    assert_eq!(popped, there);
    if there.is_some() {
        expected.drain(..N);
    }
}
