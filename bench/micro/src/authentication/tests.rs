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
fn untagged_ranks_talk_and_count_as_many_rounds_as_tagged_ones() {
    if weft_netns::available() {
        let [tagged, untagged] = round_trips(8, 2).unwrap();
        assert_eq!((tagged.len(), untagged.len()), (2, 2));
    }
}
