use super::*;
use crate::network::tests::any_header;
use proptest::prelude::*;

proptest! {
    #[test]
    fn parse_undoes_emit(header in any_header(), sequence_flag in any::<u32>(), place in any::<u8>()) {
        let words = emit(&header, sequence_flag, place);
        let lossless = Header { sequence: 0, acknowledgement: 0, asks: false, ..header };
        prop_assert_eq!(flag(words[0]), sequence_flag);
        prop_assert_eq!(parse(words, header.source), Ok(lossless));
        prop_assert_eq!(super::place(words[0]), place);
    }

    #[test]
    fn any_words_parse_or_are_refused(words in any::<[u64; 2]>()) {
        let tag = (words[0] >> 32) as u8;
        prop_assert_eq!(parse(words, Rank(0)).is_ok(), (1..=11).contains(&tag));
    }
}
