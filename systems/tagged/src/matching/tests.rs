//! Matches of messages and receives: by hand, and against a naive model.

#![allow(clippy::unwrap_used)]

use super::*;
use weft_endpoint::Rank;
use weft_model::random::Random;

fn from(rank: u16) -> Address {
    Address { rank: Rank(rank), endpoint: 0 }
}

fn message(rank: u16, tag: u64) -> MessageEnvelope {
    MessageEnvelope { kind: Tagging::Tagged, source: from(rank), tag, data: None, length: 0 }
}

fn pattern(rank: Option<u16>, tag: u64, ignore: u64) -> ReceivePattern {
    ReceivePattern { source: rank.map(from), tag, ignore }
}

/// Takes the receive that gets the message: in both ways in turn, by the parity of its tag.
fn take_posted<R: Clone>(
    matcher: &mut Matcher<R, impl Sized>,
    envelope: &MessageEnvelope,
) -> Option<R> {
    let (position, receive) = matcher.find_posted(envelope)?;
    if envelope.tag.is_multiple_of(2) {
        return matcher.take_posted(position);
    }
    let receive = receive.clone();
    matcher.drop_posted(position);
    Some(receive)
}

#[test]
fn a_receive_wants_its_source_and_its_tag() {
    let one = pattern(Some(1), 0b1010, 0b0011);
    assert!(one.wants(&message(1, 0b1001)));
    assert!(!one.wants(&message(2, 0b1001)), "another source");
    assert!(!one.wants(&message(1, 0b0010)), "another tag");
    let other_endpoint =
        MessageEnvelope { source: Address { rank: Rank(1), endpoint: 1 }, ..message(1, 8) };
    assert!(!one.wants(&other_endpoint));
    assert!(pattern(None, 7, u64::MAX).wants(&message(9, 123)), "anything from anybody");
}

#[test]
fn the_first_posted_receive_gets_the_message() {
    let mut matcher: Matcher<&str, ()> = Matcher::default();
    matcher.post(pattern(None, 5, 0), "anybody's");
    matcher.post(pattern(Some(1), 5, 0), "that one's");
    assert_eq!(take_posted(&mut matcher, &message(1, 5)), Some("anybody's"));
    assert_eq!(take_posted(&mut matcher, &message(1, 5)), Some("that one's"));
    assert_eq!(take_posted(&mut matcher, &message(1, 5)), None);
}

#[test]
fn the_first_message_goes_to_the_receive() {
    let mut matcher: Matcher<(), u32> = Matcher::default();
    matcher.store(message(1, 4), 0);
    matcher.store(message(1, 5), 1);
    matcher.store(message(1, 5), 2);
    let position = matcher.find_unexpected(&pattern(Some(1), 5, 0)).unwrap();
    assert_eq!(matcher.unexpected(position), Some(&message(1, 5)));
    assert_eq!(matcher.take_unexpected(position).unwrap().1, 1);
    let position = matcher.find_unexpected(&pattern(None, 0, u64::MAX)).unwrap();
    assert_eq!(matcher.take_unexpected(position).unwrap().1, 0);
    assert_eq!(matcher.unexpected_count(), 1);
}

#[test]
fn a_cancelled_receive_gets_nothing() {
    let mut matcher: Matcher<u32, ()> = Matcher::default();
    matcher.post(pattern(None, 5, 0), 1);
    matcher.post(pattern(None, 5, 0), 2);
    assert_eq!(matcher.cancel(|receive| *receive == 1), Some(1));
    assert_eq!(matcher.cancel(|receive| *receive == 1), None);
    assert_eq!(matcher.find_posted(&message(1, 5)).unwrap().1, &mut 2);
    assert_eq!(matcher.clear_posted().collect::<Vec<_>>(), [2]);
    assert_eq!(matcher.posted_count(), 0);
}

#[test]
fn members_that_leave_from_the_middle_leave_no_memory() {
    let mut matcher: Matcher<(), u64> = Matcher::default();
    for tag in 0..10_000 {
        matcher.store(message(1, tag), tag);
    }
    // The first stays until the end, so that nothing leaves from the front.
    for tag in (1..10_000).rev() {
        let position = matcher.find_unexpected(&pattern(None, tag, 0)).unwrap();
        assert_eq!(matcher.take_unexpected(position).unwrap().1, tag);
        assert!(
            matcher.unexpected.length() <= 2 * matcher.unexpected_count() + 2 * line::FEW_GAPS + 2
        );
    }
    assert_eq!(matcher.unexpected_count(), 1);
}

/// Model of the rule and nothing else: of all pairs that are possible now, the oldest message of
/// each source goes to the oldest receive that wants it.
#[derive(Default)]
struct Model {
    receives: Vec<(ReceivePattern, usize)>,
    messages: Vec<(MessageEnvelope, usize)>,
}

impl Model {
    fn message(&mut self, envelope: MessageEnvelope, number: usize) -> Option<usize> {
        let position = self.receives.iter().position(|(pattern, _)| pattern.wants(&envelope));
        let found = position.map(|position| self.receives.remove(position).1);
        if found.is_none() {
            self.messages.push((envelope, number));
        }
        found
    }

    fn receive(&mut self, pattern: ReceivePattern, number: usize) -> Option<usize> {
        let position = self.messages.iter().position(|(envelope, _)| pattern.wants(envelope));
        let found = position.map(|position| self.messages.remove(position).1);
        if found.is_none() {
            self.receives.push((pattern, number));
        }
        found
    }

    fn cancel(&mut self, number: usize) -> Option<usize> {
        let position = self.receives.iter().position(|(_, receive)| *receive == number)?;
        Some(self.receives.remove(position).1)
    }
}

#[test]
fn random_programs_match_as_the_rule_says() {
    for seed in 0..300 {
        let mut random = Random::part(seed, 0);
        let (mut model, mut matcher) = (Model::default(), Matcher::default());
        // In some, so many receives are posted or messages unexpected that there are indexes.
        let messages_per_mille = *random.choose(&[300, 500, 700, 900]);
        let wildcards_per_mille = *random.choose(&[0, 100, 500]);
        for number in 0..600 {
            let rank = random.below(3) as u16;
            let tag = random.below(4);
            // Nobody asks for some messages until the end.
            let per_mille =
                if number < 400 { messages_per_mille } else { 1000 - messages_per_mille };
            if random.happens(20) {
                let wanted = random.below(600) as usize;
                assert_eq!(matcher.cancel(|&it| it == wanted), model.cancel(wanted), "seed {seed}");
            } else if random.happens(per_mille) {
                let envelope = message(rank, tag);
                let found = take_posted(&mut matcher, &envelope);
                if found.is_none() {
                    matcher.store(envelope, number);
                }
                assert_eq!(found, model.message(envelope, number), "seed {seed}");
            } else {
                let is_wild = random.happens(wildcards_per_mille);
                let ignore = if is_wild { *random.choose(&[0, 1, 3, u64::MAX]) } else { 0 };
                let source = (!is_wild || random.happens(500)).then_some(rank);
                let wanted = pattern(source, tag, ignore);
                let position = matcher.find_unexpected(&wanted);
                let found = position.and_then(|position| matcher.take_unexpected(position));
                if found.is_none() {
                    matcher.post(wanted, number);
                }
                let found = found.map(|(_, message)| message);
                assert_eq!(found, model.receive(wanted, number), "seed {seed}");
            }
        }
        assert_eq!(matcher.posted_count(), model.receives.len());
        assert_eq!(matcher.unexpected_count(), model.messages.len());
    }
}

#[test]
fn many_receives_have_an_index_until_few_are_left() {
    let (mut matcher, many) = (Matcher::<u64, ()>::default(), 20 * MANY as u64);
    for tag in 0..many {
        matcher.post(pattern(Some(1), tag, 0), tag);
    }
    // From the middle, so that gaps are closed now and then while nobody posts.
    for step in 0..many {
        let tag = step * 7 % many;
        assert!(matcher.posted_count() <= MANY || !matcher.posted_by.is_empty());
        assert_eq!(take_posted(&mut matcher, &message(1, tag)), Some(tag));
    }
    assert!(matcher.posted_by.is_empty());
}
