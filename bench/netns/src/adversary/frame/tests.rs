use super::*;

/// An IPv4 header whose checksum is known (Wikipedia's example), as the sum of 0xb861.
#[test]
fn sums_are_those_of_the_internet() {
    let mut header: Vec<u8> = vec![
        0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0, 0, 0xc0, 0xa8, 0x00, 0x01,
        0xc0, 0xa8, 0x00, 0xc7,
    ];
    put_sum(&mut header, 0..20, 10, 0);
    assert_eq!(header[10..12], [0xb8, 0x61]);
}

#[test]
fn no_bytes_are_taken_for_more_than_they_are() {
    let mut random = fastrand::Rng::with_seed(1);
    for _ in 0..100_000 {
        let mut frame = vec![0; random.usize(0..100)];
        random.fill(&mut frame);
        if frame.len() >= ETHERNET {
            let kinds = [[0x08, 0x00], [0x86, 0xdd], [0x88, 0xb5]];
            frame[12..ETHERNET].copy_from_slice(&kinds[random.usize(0..3)]);
        }
        if frame.len() > 23 {
            (frame[14], frame[20], frame[21], frame[23]) = (0x45, random.u8(..2) * 17, 0, 17);
        }
        if let Some(layers) = Layers::of(&frame) {
            layers.inner(&frame);
            layers.mend(&mut frame);
        }
    }
}
