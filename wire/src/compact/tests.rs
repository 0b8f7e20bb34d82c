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
        let tag = (words[0] >> 32) as u8 & 0x0f;
        prop_assert_eq!(parse(words, Rank(0)).is_ok(), (1..=11).contains(&tag));
    }

    #[test]
    fn short_headers_are_what_parse_says_of_them(
        header in any_header(), plain in any::<bool>(), place in 0u8..2, max_size in any::<u16>(),
    ) {
        let mut header = Header { sequence: 0, acknowledgement: 0, asks: false, ..header };
        if plain {
            header.tag = Tag::Ucast;
            header.channel = Channel::NONE;
            header.tree = TreeId::unicast(header.source).of(header.tree.protocol);
        }
        let is_short = header.tag == Tag::Ucast
            && header.channel == Channel::NONE
            && header.tree.is_unicast_of(header.source)
            && place == 1
            && header.size <= max_size;
        let expected = is_short.then_some(Short {
            protocol: header.tree.protocol,
            size: header.size,
            credits: header.credits,
        });
        prop_assert_eq!(short(emit(&header, 9, place), header.source, 1, max_size), expected);
    }
}
