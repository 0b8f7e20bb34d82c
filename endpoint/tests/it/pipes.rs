//! Packets over the link that is the example.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use weft_endpoint::{Node, Packets, Rank, Settings, WaitPolicy};
use weft_pipe::{Pipe, connect};

/// More packets of a page each than pipe and window hold, to a rank that sleeps between them.
#[test]
fn packets_travel_over_pipes() {
    const PACKETS: u32 = 1000;
    let packets = |(rank, ends)| {
        let link = Pipe::attach(ends).unwrap();
        let node = Node::new(rank, Settings::new(2, 64), link, WaitPolicy::SLEEP);
        Packets::new(Arc::new(node))
    };
    let ranks: Vec<_> = (0..).map(Rank).zip(connect(2).unwrap()).map(packets).collect();
    let [first, second] = ranks.try_into().ok().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for number in 0..PACKETS {
                let mut packet = first.packet().unwrap();
                packet.put(&number.to_le_bytes()).unwrap().put(&[7; 4000]).unwrap();
                packet.unicast(Rank(1)).unwrap();
            }
            first.flush().unwrap();
        });
        let next = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&next);
        second.on_packet(move |packet| {
            let number = counted.fetch_add(1, Ordering::Relaxed);
            assert_eq!((packet.len(), &packet[..4]), (4004, &number.to_le_bytes()[..]));
        });
        second.poll_until(|| next.load(Ordering::Relaxed) == PACKETS).unwrap();
    });
}
