//! That the testbed is what the paper's settings say, and the programs what its table says.

use super::bandwidth::{Mode, packed, stream};
use super::latency::{Delay, SIZES};
use super::programs::{Message, PROGRAMS, RANKS};
use super::testbed::{Part, Testbed};
use crate::cluster::now;
use crate::experiments::inbox::{Inbox, gap};
use crate::experiments::unicast::send;
use weft_endpoint::Rank;

/// The machine is calibrated on this column of tables 1 and 2.
#[test]
fn a_delay_is_the_sum_of_its_parts_and_4_bytes_take_what_the_paper_says() {
    let testbed = Testbed::new(2).unwrap();
    let is_near = |value: f64, paper: f64| (value - paper).abs() < 0.5;
    for bytes in SIZES {
        let delay = Delay::new(&testbed, bytes).unwrap();
        assert!(is_near(delay.parts.iter().sum(), delay.total), "{bytes}: {delay:?}");
        if bytes == 4 {
            assert!(is_near(delay.sender, 77.0) && is_near(delay.receiver(), 101.0), "{delay:?}");
            let paper = [46.0, 53.0, 20.0, 4.0, 75.0];
            assert!(delay.parts.iter().zip(paper).all(|(&ours, paper)| is_near(ours, paper)));
        }
    }
    let parts = |testbed: Testbed| Part::ALL.into_iter().fold(testbed, Testbed::without).machine;
    let nothing = parts(testbed);
    let costs = [nothing.host.launch_ns, nothing.ni.send_ns, nothing.ni.receive_ns];
    assert_eq!((costs, nothing.host.process_ns), ([0; 3], 0), "every cost is of a part");
}

/// A stream of small packets at so much each, in nanoseconds, from each of two PCs to another one.
fn two_streams(testbed: &Testbed) -> f64 {
    let ran = testbed.run(0, |packets| {
        let (inbox, mut times) = (Inbox::open(packets), Vec::new());
        let rank = packets.rank().0;
        for _ in 0..200 {
            if rank < 2 {
                send(packets, Rank(rank + 2), &[7; 1024])?;
            } else {
                drop(inbox.next()?);
                times.push(now(packets));
            }
        }
        Ok(times)
    });
    gap(&ran.unwrap().0.values[2])
}

#[test]
fn what_the_kernel_does_the_program_waits_for_and_all_share_one_wire() {
    let testbed = Testbed::new(4).unwrap();
    let gap = two_streams(&testbed);
    let mut apart = testbed.clone();
    apart.machine.medium = None;
    let one_processor = two_streams(&apart);
    apart.machine.ni.at_host = false;
    let two_processors = two_streams(&apart);
    // A packet of 1,090 bytes takes the wire 87 us, the kernel 56 and the rest of the receiver 45.
    let receiver = 56.2 + 44.7;
    assert!(gap > 1.9 * 87.0 * 1e3, "{gap}");
    assert!(one_processor > receiver * 1e3 && one_processor < gap, "{one_processor}");
    assert!(two_processors < receiver * 1e3 && two_processors > 87.0 * 1e3, "{two_processors}");
}

#[test]
fn messages_share_packets_as_long_as_they_fit() {
    assert_eq!(packed(4), (45, vec![45 * 32 - 28]));
    assert_eq!(packed(704), (2, vec![1436]));
    assert_eq!(packed(1436), (1, vec![1436]));
    // Section 3.2.
    assert_eq!(packed(2048), (1, vec![1436, 612]));
}

#[test]
fn a_message_more_is_an_acknowledgement_more_only_if_each_has_one() {
    let acknowledgements = |mode| stream(1024, mode).unwrap().acknowledgements;
    assert!(acknowledgements(Mode::Individual) > 0.9);
    assert!(acknowledgements(Mode::Asked) < 0.2);
}

/// Rows 7 and 9 of table 3, to a hundredth.
#[test]
fn programs_send_and_receive_what_the_table_says() {
    let paper = [(61_557, 75_130), (38_377, 41_145), (194_742, 210_153), (231_704, 369_819)];
    for (program, (sent, received)) in PROGRAMS.iter().zip(paper) {
        let messages: Vec<Message> = program.steps().into_iter().flatten().collect();
        let each = |message: &Message| if message.to.is_some() { 1 } else { u64::from(RANKS) - 1 };
        let arrived: u64 = messages.iter().map(each).sum();
        let is_near = |ours: u64, paper: u64| ours.abs_diff(paper) * 100 < paper;
        assert!(is_near(messages.len() as u64, sent), "{}: {}", program.name, messages.len());
        assert!(is_near(arrived, received), "{}: {arrived}", program.name);
    }
}
