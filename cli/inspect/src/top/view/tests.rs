//! Screens, drawn into memory.

use super::*;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use weft_launch::{Counts, RankNow, Snapshot};

fn look(seconds: f64) -> Snapshot {
    let ranks = (0..3u16).map(|rank| RankNow {
        rank,
        process: 100 + u32::from(rank),
        counts: Some(Counts {
            packets_sent: (seconds * f64::from(rank) * 10.0) as u64,
            ..Counts::default()
        }),
        ..RankNow::default()
    });
    Snapshot { program: "ring".into(), seconds, ranks: ranks.collect() }
}

fn screen(view: &mut View) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(120, 20)).unwrap();
    terminal.draw(|frame| view.draw(frame)).unwrap();
    let buffer = terminal.backend().buffer();
    let cell = |row: u16, column: u16| buffer[(column, row)].symbol().to_owned();
    let line = |row| (0..120).map(|column| cell(row, column)).collect::<String>();
    (0..20).map(|row| line(row).trim_end().to_owned()).collect()
}

fn view() -> View {
    let mut view = View::new(4711, Order::default());
    view.show(Rates::between(&look(1.0), &look(2.0)));
    view
}

#[test]
fn ranks_are_shown_with_what_they_do() {
    let lines = screen(&mut view());
    assert_eq!(lines[0], "weft top: job 4711: 3 ranks of ring, for 2.0 s");
    assert!(lines[1].contains("▲rank") && lines[1].contains("state"), "{}", lines[1]);
    assert!(lines[4].trim_start().starts_with('2') && lines[4].contains("20"), "{}", lines[4]);
    // The first has sent nothing, and its counts tell no more than its state.
    assert!(lines[2].ends_with("computes or polls") && lines[4].ends_with("exchanges packets"));
    assert!(lines[19].starts_with("q end"));
}

#[test]
fn keys_sort_and_show_details() {
    let mut view = view();
    view.press(KeyCode::Char('s'));
    view.press(KeyCode::Char('s'));
    let lines = screen(&mut view);
    assert!(lines[1].contains("▼out/s"), "{}", lines[1]);
    assert!(lines[2].trim_start().starts_with('2'), "{}", lines[2]);
    view.press(KeyCode::Char('o'));
    assert!(screen(&mut view)[2].trim_start().starts_with('0'));
    view.press(KeyCode::Down);
    view.press(KeyCode::Down);
    view.press(KeyCode::Enter);
    let lines = screen(&mut view);
    let said = "rank 1, process 101: exchanges packets";
    assert!(lines.iter().any(|line| line.contains(said)), "{lines:?}");
}

#[test]
fn what_is_said_of_a_recording_stands_there_until_the_next_key() {
    let mut view = view();
    view.say("recording into weft-4711.trace: 1.2 of 2.0 s".into());
    assert_eq!(screen(&mut view)[19], "recording into weft-4711.trace: 1.2 of 2.0 s");
    view.press(KeyCode::Down);
    assert!(screen(&mut view)[19].ends_with("r record 2 s"), "{:?}", screen(&mut view)[19]);
}
