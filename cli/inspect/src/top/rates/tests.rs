//! Rates between two looks.

use super::*;

fn look(seconds: f64, packets: &[u64]) -> Snapshot {
    let ranks = (0..).zip(packets).map(|(rank, packets)| RankNow {
        rank,
        counts: Some(Counts {
            packets_sent: *packets,
            bytes_sent: packets * 1024,
            acknowledged_ns: 7_300,
            ..Counts::default()
        }),
        processor_seconds: seconds / 2.0,
        memory_bytes: 3 << 20,
        ..RankNow::default()
    });
    Snapshot { program: "ring".into(), seconds, ranks: ranks.collect() }
}

#[test]
fn rates_are_differences_over_the_time_between() {
    let rates = Rates::between(&look(1.0, &[100, 7]), &look(3.0, &[5100, 7]));
    let [busy, idle] = &rates.ranks[..] else { panic!("two ranks") };
    assert_eq!((busy.sent, busy.bytes, busy.processor), (2500.0, 2500.0 * 1024.0, 0.5));
    assert_eq!(idle.sent, 0.0);
    assert_eq!(busy.cells(), ["0", "50", "2.5k", "0", "2.4 Mi", "0", "7.3", "0", "3.0 Mi"]);
}

#[test]
fn of_a_rank_that_was_not_counted_before_nothing_is_known() {
    let mut before = look(1.0, &[0]);
    before.ranks[0].counts = None;
    assert_eq!(Rates::between(&before, &look(2.0, &[900])).ranks[0].sent, 0.0);
    before.ranks.clear();
    assert_eq!(Rates::between(&before, &look(2.0, &[900])).ranks[0].sent, 0.0);
}

#[test]
fn ranks_are_sorted_by_a_column() {
    let mut rates = Rates::between(&look(1.0, &[0, 0, 0]), &look(2.0, &[5, 9, 5]));
    rates.sort(Order { by: Column::Sent, descends: true });
    let ranks: Vec<_> = rates.ranks.iter().map(|rate| rate.now.rank).collect();
    assert_eq!(ranks, [1, 0, 2]);
}

#[test]
fn a_table_has_a_line_for_each_rank() {
    let mut now = look(2.0, &[5, 9]);
    now.ranks[1].state = RankState::Waits("a reply".into());
    now.ranks[1].since = Some(12.34);
    let table = Rates::between(&look(1.0, &[0, 0]), &now).table();
    let lines: Vec<_> = table.lines().collect();
    assert_eq!(lines[0], "2 ranks of ring, for 2.0 s");
    assert!(lines[1].starts_with("      rank     cpu %") && lines[1].ends_with("  state"));
    assert!(lines[3].ends_with("  waits for a reply, for 12.3 s"), "{table}");
    assert_eq!(lines.len(), 4);
}

#[test]
fn numbers_are_short() {
    assert_eq!([0.0, 99.94, 250.0, 25_000.0].map(micros), ["-", "99.9", "250", "25.0k"]);
    assert_eq!([999.0, 1e3, 1.25e6].map(count), ["999", "1.0k", "1.2M"]);
    assert_eq!([0.0, 1023.0, 1024.0, 5e9].map(bytes), ["0", "1023", "1.0 Ki", "4.7 Gi"]);
}
