//! Messages of the network's about a datagram that passed: forged, as anybody can.

use crate::adversary::frame::{ETHERNET, Layers, put_sum, sum};

/// Errors of ICMP about datagrams over IPv4: type, code, and the word behind the checksum.
const ERRORS: [(u8, u8, u32); 19] = [
    // Fragmentation needed, at these path MTUs.
    (3, 4, 0),
    (3, 4, 68),
    (3, 4, 576),
    (3, 4, 1280),
    // Network, host, protocol and port unreachable; source route failed; network and host unknown.
    (3, 0, 0),
    (3, 1, 0),
    (3, 2, 0),
    (3, 3, 0),
    (3, 5, 0),
    (3, 6, 0),
    (3, 7, 0),
    // Prohibited, for hosts and in all; precedence.
    (3, 10, 0),
    (3, 13, 0),
    (3, 14, 0),
    // Source quench.
    (4, 0, 0),
    // Redirect of a host, to an address that nobody has.
    (5, 1, 0x0a4d_00fe),
    // Time exceeded in transit, and in reassembly; parameter problem.
    (11, 0, 0),
    (11, 1, 0),
    (12, 0, 0),
];
/// Errors of ICMPv6.
const ERRORS_V6: [(u8, u8, u32); 12] = [
    // Packet too big.
    (2, 0, 0),
    (2, 0, 68),
    (2, 0, 1280),
    // No route, prohibited, beyond scope, address and port unreachable, policy.
    (1, 0, 0),
    (1, 1, 0),
    (1, 2, 0),
    (1, 3, 0),
    (1, 4, 0),
    (1, 5, 0),
    // Time exceeded; parameter problem.
    (3, 0, 0),
    (3, 1, 0),
    (4, 1, 0),
];

/// Frame with an error about the datagram in `about`, to who sent it, as if from its receiver.
pub(crate) fn forge(about: &[u8], number: usize) -> Option<Vec<u8>> {
    let mut frame = [&about[6..12], &about[..6], &about[12..ETHERNET]].concat();
    match Layers::of(about)? {
        Layers::V4(udp) => {
            let (kind, code, word) = ERRORS[number % ERRORS.len()];
            let quoted = &about[ETHERNET..about.len().min(udp + 28)];
            let bytes = 28 + quoted.len();
            frame.extend([0x45, 0]);
            frame.extend((bytes as u16).to_be_bytes());
            frame.extend([0, 0, 0, 0, 64, 1, 0, 0]);
            frame.extend([&about[30..34], &about[26..30]].concat());
            frame.extend([kind, code, 0, 0]);
            frame.extend(word.to_be_bytes());
            frame.extend(quoted);
            put_sum(&mut frame, ETHERNET..ETHERNET + 20, ETHERNET + 10, 0);
            let end = frame.len();
            put_sum(&mut frame, ETHERNET + 20..end, ETHERNET + 22, 0);
        }
        Layers::V6(_) => {
            let (kind, code, word) = ERRORS_V6[number % ERRORS_V6.len()];
            let quoted = &about[ETHERNET..about.len().min(ETHERNET + 1232)];
            let bytes = 8 + quoted.len() as u16;
            frame.extend([0x60, 0, 0, 0]);
            frame.extend(bytes.to_be_bytes());
            frame.extend([58, 64]);
            frame.extend([&about[38..54], &about[22..38]].concat());
            frame.extend([kind, code, 0, 0]);
            frame.extend(word.to_be_bytes());
            frame.extend(quoted);
            let pseudo = sum(&frame[22..54]) + 58 + u64::from(bytes);
            let end = frame.len();
            put_sum(&mut frame, ETHERNET + 40..end, ETHERNET + 42, pseudo);
        }
        Layers::Weft => return None,
    }
    Some(frame)
}
