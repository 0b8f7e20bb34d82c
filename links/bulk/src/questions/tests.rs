use super::*;

fn looks_until_due(questions: &mut Questions, connections: Connections) -> u32 {
    (1..=2 * SELDOM).find(|_| questions.is_due(connections)).unwrap()
}

#[test]
fn the_set_is_asked_at_each_look_for_a_while_after_a_record_and_less_often_then() {
    let mut questions = Questions::default();
    assert_eq!(looks_until_due(&mut questions, Connections::None), SELDOM);
    assert_eq!(looks_until_due(&mut questions, Connections::Idle), OFTEN);
    questions.came();
    for _ in 0..EAGER {
        assert_eq!(looks_until_due(&mut questions, Connections::Idle), 1);
    }
    assert_eq!(looks_until_due(&mut questions, Connections::Idle), OFTEN);
}

#[test]
fn a_busy_connection_does_not_keep_the_others_from_being_asked_for() {
    let mut questions = Questions::default();
    questions.came();
    assert_eq!(looks_until_due(&mut questions, Connections::Busy), SELDOM);
}

#[test]
fn who_may_sleep_asks_at_once() {
    let mut questions = Questions::default();
    questions.hasten();
    assert_eq!(looks_until_due(&mut questions, Connections::None), 1);
    assert_eq!(looks_until_due(&mut questions, Connections::None), SELDOM);
}
