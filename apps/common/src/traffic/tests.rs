use super::{Traffic, gather_traffic, summary, table};
use crate::Times;
use crate::exchange::Exchange;
use crate::on_threads;
use std::time::Duration;

fn traffic(base: u64) -> Traffic {
    Traffic {
        packets_sent: base,
        packets_received: base + 1,
        bytes_sent: base + 2,
        bytes_received: base + 3,
        blocked_sends: base + 4,
        interrupts: base + 5,
    }
}

#[test]
fn since_and_total_go_field_by_field() {
    assert_eq!(Traffic::total(&[traffic(10), traffic(0)]).since(traffic(0)), traffic(10));
}

#[test]
fn rank_0_gets_every_rank_in_order() {
    let gathered = on_threads(3, 0, |mut exchange| {
        let mine = traffic(100 * exchange.rank() as u64);
        gather_traffic(&mut exchange, mine).expect("all ranks take part")
    });
    assert_eq!(gathered[0], Some(vec![traffic(0), traffic(100), traffic(200)]));
    assert_eq!(gathered[1], None);
}

#[test]
fn the_table_has_a_line_per_rank_with_its_figures() {
    let text = table(&[traffic(1), traffic(12_000)]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3);
    let figures: Vec<&str> = lines[2].split_whitespace().collect();
    assert_eq!(figures, ["1", "12,000", "12,001", "12,002", "12,003", "12,004", "12,005"]);
}

#[test]
fn the_summary_says_what_was_measured_and_no_more() {
    let parallel = Duration::from_millis(2100);
    let mut times = Times { parallel, sequential: Some(Duration::from_millis(3990)) };
    assert_eq!(
        summary(times, "rows 7   ", &[traffic(1000); 4]),
        "4 ranks, 2.10 s (1.9 x one rank, which took 3.99 s)   rows 7   \
         packets 4,000   blocked sends 4,016   interrupts 4,020"
    );
    times.sequential = None;
    let text = summary(times, "", &[traffic(0)]);
    assert_eq!(text, "1 rank, 2.10 s   packets 0   blocked sends 4   interrupts 5");
}
