use super::*;

#[test]
fn a_loop_gives_a_figure_for_each_round_and_each_side() {
    for protection in [Protection::Tagged, Protection::Encrypted] {
        let [with, without] = loops(protection, 40, 3);
        assert_eq!((with.len(), without.len()), (3, 3));
        assert!(with.iter().chain(&without).all(|&figure| figure > 0.0));
    }
}

#[test]
fn ranks_talk_and_count_as_many_rounds_with_every_protection() {
    if weft_netns::available() {
        let (pattern, unit) = (Pattern::PingPong, Unit::RoundTrip);
        let shape = Shape { pattern, size: 8, count: 10, unit, each: false };
        let samples = by_protection("udp", &shape, 2).unwrap();
        assert_eq!(samples.map(|samples| samples.len()), [2; 3]);
    }
}
