use super::*;

#[test]
fn each_rank_has_a_line_and_all_together_one() {
    let rank =
        Statistics { messages_sent: 3, packets_sent: 12, bytes_sent: 1536, ..Default::default() };
    let other = Statistics { messages_sent: 100, bytes_sent: 512, sleeps: 7, ..Default::default() };
    let said = Table(vec![rank.row(), other.row()]).to_string();
    let lines: Vec<Vec<&str>> =
        said.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines.len(), 5, "{said}");
    assert!(said.lines().nth(1).unwrap().ends_with("rupts  sleeps"), "{said}");
    assert_eq!(lines[2], "0 3 0 12 0 1.50 KiB 0 B 0 0 0 0 0".split(' ').collect::<Vec<_>>());
    assert_eq!(lines[3], "1 100 0 0 0 512 B 0 B 0 0 0 0 7".split(' ').collect::<Vec<_>>());
    assert_eq!(lines[4], "all 103 0 12 0 2.00 KiB 0 B 0 0 0 0 7".split(' ').collect::<Vec<_>>());
    let widths: Vec<_> = said.lines().skip(1).map(str::len).collect();
    assert!(widths.iter().all(|width| *width == widths[0]), "{said}");
}

#[test]
fn one_rank_needs_no_sum() {
    assert_eq!(Table(vec![Row::default()]).to_string().lines().count(), 3);
}
