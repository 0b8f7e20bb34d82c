use super::*;

#[test]
fn numbers_are_used_again_and_never_name_two_objects() {
    let mut slots = Slots::default();
    let stays = slots.insert(u32::MAX).unwrap();
    let mut before: Vec<Id> = Vec::new();
    for number in 0..200_000 {
        let id = slots.insert(number).unwrap();
        assert_eq!(slots.get(id), Some(&number));
        assert!(before.iter().all(|old| slots.get(*old).is_none() && *old != id));
        assert_eq!(slots.remove(id), Some(number));
        assert_eq!(slots.get_mut(id), None);
        assert_eq!(slots.remove(id), None);
        if number % 20_000 == 0 {
            before.push(id);
        }
    }
    assert_eq!(slots.get(stays), Some(&u32::MAX));
    assert!(slots.slots.len() < 10, "one for each 65,535 of them");
    assert_eq!(slots.iter().filter(|object| **object > 0).collect::<Vec<_>>(), [&u32::MAX]);
}

#[test]
fn there_are_65536_at_a_time() {
    let mut slots = Slots::default();
    let all: Vec<Id> = (0..1 << 16).map(|number| slots.insert(number).unwrap()).collect();
    assert_eq!(slots.insert(0), Err(Refusal::TOO_MANY));
    assert!(all.iter().zip(0..).all(|(id, number)| slots.get(*id) == Some(&number)));
    slots.remove(all[7]);
    let again = slots.insert(70).unwrap();
    assert_eq!((slots.get(again), slots.get(all[7])), (Some(&70), None));
}
