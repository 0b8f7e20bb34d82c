use super::*;
use weft_datagram::seal::{FrameKind, Keys, Protection, Seals, Secret};
use weft_wire::{Header, Rank, Tag, TreeId};

/// Two frames as they are on the wire, in one datagram to port 7.
fn datagram() -> (Vec<u8>, Vec<Vec<u8>>) {
    let mut seals = Seals::new(Keys::new(Secret::new([1; 16]), 9, Rank(0), Protection::Tagged), 2);
    let header = Header::new(Tag::Ucast, Rank(0), TreeId::unicast(Rank(0)), 24);
    let frames: Vec<Vec<u8>> = (0..2)
        .map(|number| {
            let mut frame = vec![0; envelope::SIZE + envelope::packet_bytes(24)];
            envelope::put(&mut frame[envelope::SIZE..], &header, &[number; 24]);
            seals.sealer(Rank(1)).seal(FrameKind::PACKETS, &mut frame);
            frame
        })
        .collect();
    let mut packet = vec![0; 20 + UDP_HEADER];
    packet[0] = 0x45;
    packet[22..24].copy_from_slice(&7u16.to_be_bytes());
    packet.extend(frames.concat());
    (packet, frames)
}

#[test]
fn frames_are_found_in_what_the_kernel_left_in_one_piece() {
    let (packet, frames) = datagram();
    assert_eq!(frames_to(7, &packet), frames);
    assert!(frames_to(8, &packet).is_empty(), "to another port");
    for length in 0..20 + UDP_HEADER {
        assert!(frames_to(7, &packet[..length]).is_empty());
    }
}
