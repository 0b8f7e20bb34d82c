use super::*;

/// Adds and takes at random, as a simulation does, beside a list that is sorted.
#[test]
fn entries_are_taken_by_time_and_in_the_order_added() {
    let mut random = fastrand::Rng::with_seed(7);
    let (mut agenda, mut list) = (Agenda::default(), Vec::new());
    let mut now = 0;
    for number in 0..20_000_u32 {
        let far = random.u32(0..24);
        let time = now + random.u64(0..1 << far);
        agenda.add(time, number);
        list.push((time, number));
        if random.u32(0..100) < 48 + number / 1000 {
            list.sort_unstable();
            let next = list.remove(0);
            assert_eq!(agenda.earliest(), Some(next.0));
            assert_eq!(agenda.take(), Some(next));
            now = next.0;
        }
    }
    list.sort_unstable();
    assert!(list.len() > 1000, "only {} are left", list.len());
    list.into_iter().for_each(|next| assert_eq!(agenda.take(), Some(next)));
    assert_eq!((agenda.earliest(), agenda.take()), (None, None));
}

#[test]
#[should_panic(expected = "an event of the past")]
fn nothing_is_added_to_the_past() {
    let mut agenda = Agenda::default();
    agenda.add(5, ());
    agenda.take();
    agenda.add(4, ());
}
