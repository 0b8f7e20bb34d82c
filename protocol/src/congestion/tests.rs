use super::*;

const MOST: u16 = 1000;

fn of(first_packets: u16) -> (CongestionWindow, Option<Congestion>) {
    (CongestionWindow::default(), Some(Congestion { first_packets }))
}

/// A whole window was under way, and is acknowledged one by one.
fn acknowledge_all(window: &mut CongestionWindow, settings: Option<Congestion>) {
    let packets = window.packets(settings, MOST);
    for _ in 0..packets {
        let now = window.packets(settings, MOST);
        window.acknowledged(1, now.into(), now, MOST);
    }
}

#[test]
fn without_settings_nothing_bounds_a_flow() {
    let mut window = CongestionWindow::default();
    assert_eq!(window.packets(None, MOST), MOST);
    window.lost(3, 10, 10, MOST);
    assert_eq!(window.packets(None, MOST), MOST);
}

#[test]
fn it_doubles_until_the_first_loss_and_then_grows_by_one() {
    let (mut window, settings) = of(32);
    assert_eq!(window.packets(settings, MOST), 32);
    acknowledge_all(&mut window, settings);
    assert_eq!(window.packets(settings, MOST), 64);
    acknowledge_all(&mut window, settings);
    assert_eq!(window.packets(settings, MOST), 128);
    window.lost(500, 600, 100, 128);
    assert_eq!(window.packets(settings, MOST), 70);
    acknowledge_all(&mut window, settings);
    assert_eq!(window.packets(settings, MOST), 71);
    acknowledge_all(&mut window, settings);
    assert_eq!(window.packets(settings, MOST), 72);
}

#[test]
fn it_never_exceeds_what_a_flow_may_have() {
    let (mut window, settings) = of(600);
    acknowledge_all(&mut window, settings);
    acknowledge_all(&mut window, settings);
    assert_eq!(window.packets(settings, MOST), MOST);
    assert_eq!(window.packets(settings, 8), 8);
}

#[test]
fn losses_of_packets_that_were_under_way_together_are_one() {
    let (mut window, settings) = of(100);
    window.lost(u32::MAX - 20, 40, 100, 100);
    assert_eq!(window.packets(settings, MOST), 70);
    window.lost(u32::MAX, 45, 70, 70);
    window.lost(39, 50, 70, 70);
    assert_eq!(window.packets(settings, MOST), 70);
    window.lost(40, 60, 70, 70);
    assert_eq!(window.packets(settings, MOST), 49);
}

#[test]
fn some_packets_may_be_under_way_always() {
    let (mut window, settings) = of(32);
    for packet in 0..100 {
        let now = window.packets(settings, MOST);
        window.lost(packet, packet, now.into(), now);
    }
    assert_eq!(window.packets(settings, MOST), LEAST);
    acknowledge_all(&mut window, settings);
    assert_eq!(window.packets(settings, MOST), LEAST + 1);
}

#[test]
fn a_window_that_is_not_used_does_not_grow() {
    let (mut window, settings) = of(32);
    (0..100).for_each(|_| window.acknowledged(1, 1, 32, MOST));
    assert_eq!(window.packets(settings, MOST), 32);
}
