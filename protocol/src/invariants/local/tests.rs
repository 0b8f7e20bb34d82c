//! Each form holds where it should, and says both sides where it does not. That the protocols keep
//! them is shown in `testing/world`, after every step.

use super::*;

const CREDITS: CreditsHere = CreditsHere { peer: Rank(3), first: 8, held: 3, away: 5, most: 8 };
const BUFFERS: BuffersHere =
    BuffersHere { peer: Rank(3), there: 2, buffered: 2, owed: 5, window: 8, least: 8, most: 8 };
const NUMBERS: NumbersHere = NumbersHere {
    peer: Rank(3),
    oldest: u32::MAX,
    accepted: 1,
    next: 2,
    acknowledged: 4,
    acknowledgeable: 6,
    expected: 7,
};
const CHANNEL: ChannelHere =
    ChannelHere { owner: Rank(3), is_own: false, packets: 1, held: true, children: 2, distinct: 2 };

/// Words of a check.
fn said(checked: Result<(), Broken>) -> String {
    checked.map_or_else(|broken| broken.to_string(), |()| "it holds".into())
}

#[test]
fn what_is_right_holds() {
    let checked = [
        i1_credits_here(&CREDITS),
        i1_credits_here(&CreditsHere { held: 10, away: -2, ..CREDITS }),
        i2_window_here(&CREDITS),
        i1_buffers_here(&BUFFERS),
        i3_none_overtaken(Rank(3), 0, 4),
        i3_none_overtaken(Rank(3), 4, 0),
        i3_numbers_here(&NUMBERS),
        i4_buffers_counted("frames", 4, 4),
        i5_none_waits_here(Rank(3), 0),
        i7_channel_here(&CHANNEL),
        i7_channel_here(&ChannelHere { is_own: true, packets: 0, held: false, ..CHANNEL }),
    ];
    assert!(checked.iter().all(Result::is_ok), "{checked:?}");
}

#[test]
fn i1_a_credit_is_lost_or_invented() {
    let wanted = "invariant I1 is broken: of 8 credits for rank 3 there are held 2 + in flight, there or on their way \
                  back 5 = 7";
    assert_eq!(said(i1_credits_here(&CreditsHere { held: 2, ..CREDITS })), wanted);
    let wanted = "invariant I1 is broken: 2 packets of rank 3 are said to be buffered, and 1 are";
    assert_eq!(said(i1_buffers_here(&BuffersHere { there: 1, ..BUFFERS })), wanted);
    let wanted = "invariant I1 is broken: of 8 credits of rank 3 there are buffered 2 + owed 7 = 9";
    assert_eq!(said(i1_buffers_here(&BuffersHere { owed: 7, ..BUFFERS })), wanted);
    let wanted = "invariant I1 is broken: rank 3 has 8 credits, and windows have 1 to 7";
    assert_eq!(said(i1_buffers_here(&BuffersHere { least: 1, most: 7, ..BUFFERS })), wanted);
}

#[test]
fn i2_more_is_under_way_than_the_window_has() {
    let wanted =
        "invariant I2 is broken: 9 packets for rank 3 are under way, and its window has 8 credits";
    assert_eq!(said(i2_window_here(&CreditsHere { away: 9, ..CREDITS })), wanted);
}

#[test]
fn i3_and_i8_order() {
    let wanted = "invariant I3 is broken: 2 packets for rank 3 wait, and 1 credits for it are held";
    assert_eq!(said(i3_none_overtaken(Rank(3), 1, 2)), wanted);
    let wanted = "invariant I3 is broken: to rank 3 packet 2 is the next, 3 the first that it may not have, and \
                  4294967295 the first that it has not acknowledged: they are in another order";
    assert_eq!(said(i3_numbers_here(&NumbersHere { accepted: 3, ..NUMBERS })), wanted);
    let wanted = "invariant I8 is broken: of rank 3 packet 7 is expected, those before 6 may be acknowledged, and \
                  those before 8 were";
    assert_eq!(said(i3_numbers_here(&NumbersHere { acknowledged: 8, ..NUMBERS })), wanted);
}

#[test]
fn i4_and_i5_counts() {
    let wanted = "invariant I4 is broken: of frames there are 4 in use, and 5 if those of each peer are added up";
    assert_eq!(said(i4_buffers_counted("frames", 5, 4)), wanted);
    let wanted =
        "invariant I5 is broken: 1 control packets for rank 3 wait for credits, and may wait for 0";
    assert_eq!(said(i5_none_waits_here(Rank(3), 1)), wanted);
}

#[test]
fn i7_a_channel_is_no_subtree() {
    let wanted = "invariant I7 is broken: 2 packets are on the recovery channel of rank 3, and 1 buffers of it are \
                  in use";
    assert_eq!(said(i7_channel_here(&ChannelHere { packets: 2, ..CHANNEL })), wanted);
    let wanted = "invariant I7 is broken: the recovery channel of rank 3 goes on to 2 children, 1 of them different";
    assert_eq!(said(i7_channel_here(&ChannelHere { distinct: 1, ..CHANNEL })), wanted);
    let wanted = "invariant I7 is broken: the recovery channel of rank 3 is in use, with 0 packets and 0 children";
    let idle = ChannelHere { packets: 0, held: false, children: 0, distinct: 0, ..CHANNEL };
    assert_eq!(said(i7_channel_here(&idle)), wanted);
}
