//! Settings agree with themselves and with the link, whatever its size.

use super::*;

fn capabilities(frames: usize, receive_frames: usize) -> Capabilities {
    Capabilities {
        max_payload: 1416,
        multicast_payload: 1416,
        inline_payload: 0,
        lossless: false,
        ordered: false,
        multicast: false,
        frames,
        receive_frames,
        host_frames: 0,
        threads: true,
    }
}

#[test]
fn no_more_packets_are_buffered_than_the_link_has_frames() {
    for preset in Preset::RETRANSMITTING {
        for ranks in [1, 2, 3, 16, 100, 1000] {
            for frames in [1, 64, 1000, 100_000] {
                let settings = network_settings(ranks, preset, &capabilities(48, frames), false);
                assert_eq!(settings.check(), Ok(()));
                let own = settings.primary_buffers() * usize::from(ranks - 1);
                let (all, least) = (settings.receive_buffers + own, own + 1);
                assert_eq!(all, frames.max(least), "{preset}, {ranks} ranks, {frames} frames");
                assert_eq!(settings.pupa.secondary_sends, 48);
            }
        }
    }
}

#[test]
fn ranks_that_share_cores_have_time() {
    let of = |crowded| network_settings(4, Preset::Pupa, &capabilities(48, 512), crowded);
    let (alone, crowded) = (of(false), of(true));
    assert!(alone.retransmit_after < crowded.retransmit_after);
    assert!(alone.retransmit_at_least < crowded.retransmit_at_least);
    assert!(alone.acknowledge_after < crowded.acknowledge_after);
    assert_eq!((alone.window_packets, alone.silence), (64, Some(Silence::default())));
}

#[test]
fn long_packets_count_by_their_bytes() {
    let of = |max_payload, frames| {
        let link = Capabilities { max_payload, ..capabilities(frames, 512) };
        network_settings(4, Preset::Pupa, &link, false).pupa.send_buffers
    };
    assert_eq!(of(1416, 512), None, "all frames can be full at once");
    let buffers = of(65_472, 512).unwrap();
    assert_eq!((buffers.taken_by(1), buffers.taken_by(65_472)), (1, 16));
    // As many as may wait for acknowledgements take all buffers.
    assert_eq!(MOST_WAITING / 65_472 * 16, 512);
}
