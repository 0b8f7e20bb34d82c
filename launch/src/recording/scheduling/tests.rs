use super::*;
use weft_trace::NamedThing;

fn words(time: u64, what: What) -> EventWords {
    Event { time, what }.to_words()
}

#[test]
fn three_numbers_are_two_times() {
    let times = Times { on_core_ns: 52_386, run_delay_ns: 17 };
    assert_eq!(parse("52386 17 3\n"), Some(times));
    assert_eq!(parse(""), None);
}

#[test]
fn it_is_added_from_the_second_time_on_and_before_a_text() {
    let mut of = Scheduling::of(std::process::id());
    let text = What::Text { named: NamedThing::Wait, number: 0, part: 0, bytes: [1; 16] };
    let events = [words(7, What::WaitBegins), words(8, text)];
    let mut first = events.to_vec();
    of.add_to(&mut first);
    assert_eq!(first, events);
    let mut none = vec![words(9, text)];
    of.add_to(&mut none);
    assert_eq!(none.len(), 1);
    let mut second = events.to_vec();
    of.add_to(&mut second);
    let added = Event::of_words(&second[1]).unwrap();
    assert!(matches!(added, Event { time: 7, what: What::Scheduled { .. } }), "{added:?}");
    assert_eq!(second.len(), 3);
}

#[test]
fn of_a_process_that_is_gone_nothing_is_added() {
    let mut events = vec![words(1, What::WaitBegins)];
    let mut of = Scheduling::of(u32::MAX);
    of.add_to(&mut events);
    of.add_to(&mut events);
    assert_eq!(events.len(), 1);
}
