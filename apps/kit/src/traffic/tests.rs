use super::{Traffic, gather_traffic, table};
use crate::exchange::Exchange;
use crate::on_threads;

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
