#![allow(clippy::unwrap_used)]

use super::*;

fn good() -> SocketRequest {
    SocketRequest {
        interface: 2,
        job: 7,
        ranks: vec![0, 1, 5],
        sizes: XdpSizes { frames: 16, receive_frames: 8 },
        greeter: Some(Greeter { job: !7, host: 3 }),
        copied: true,
    }
}

#[test]
fn requests_are_what_they_were() {
    for words in [ToNet::Look, ToNet::Take(good())] {
        assert_eq!(ToNet::parse(&words.emit()), Ok(words));
    }
    let seats: Vec<_> = good().seats().collect();
    let ranks = [(7, Rank(0), 0), (7, Rank(1), 1), (7, Rank(5), 2)];
    assert_eq!(seats, [&ranks[..], &[(!7, Rank(3), 0)]].concat());
}

#[test]
fn every_number_of_a_request_has_limits() {
    let said = |change: fn(&mut SocketRequest)| {
        let mut request = good();
        change(&mut request);
        ToNet::parse(&ToNet::Take(request).emit()).unwrap_err().0
    };
    assert_eq!(said(|request| request.interface = 0), "interface");
    assert_eq!(said(|request| request.interface = u32::MAX), "interface");
    assert_eq!(said(|request| request.ranks.clear()), "number of ranks");
    assert_eq!(said(|request| request.ranks = (0..257).collect()), "number of ranks");
    assert_eq!(said(|request| request.ranks = vec![1, 1]), "order of ranks");
    assert_eq!(said(|request| request.ranks = vec![2, 1]), "order of ranks");
    assert_eq!(said(|request| request.sizes.frames = 0), "number of frames");
    assert_eq!(said(|request| request.sizes.frames = 8193), "number of frames");
    assert_eq!(said(|request| request.sizes.receive_frames = 0), "number of frames for arrivals");
    let most = |request: &mut SocketRequest| request.sizes.receive_frames = u32::MAX;
    assert_eq!(said(most), "number of frames for arrivals");
    let same = |request: &mut SocketRequest| request.greeter = Some(Greeter { job: 7, host: 0 });
    assert_eq!(said(same), "number of the greeter");
}

#[test]
fn other_bytes_are_no_request() {
    let datagram = ToNet::Take(good()).emit();
    assert_eq!(ToNet::parse(b""), Err(BadWords("its first bytes")));
    assert_eq!(ToNet::parse(b"WNT\x02\0"), Err(BadWords("its first bytes")));
    assert_eq!(ToNet::parse(&[&datagram[..], &[0]].concat()), Err(BadWords("bytes behind it")));
    for length in 4..datagram.len() {
        assert_eq!(ToNet::parse(&datagram[..length]), Err(BadWords("its bytes")), "{length}");
    }
}
