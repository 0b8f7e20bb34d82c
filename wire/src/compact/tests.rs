use super::*;
use crate::network::tests::any_header;
use proptest::prelude::*;

proptest! {
    #[test]
    fn parse_undoes_emit(header in any_header(), sequence_flag in any::<u32>(), payload_kind in any::<u8>()) {
        let words = emit(&header, sequence_flag, payload_kind);
        let lossless = Header { sequence: 0, acknowledgement: 0, asks: false, serial: Serial::NONE, ..header };
        prop_assert_eq!(flag(words[0]), sequence_flag);
        prop_assert_eq!(parse(words, header.source), Ok(lossless));
        prop_assert_eq!(super::payload_kind(words[0]), payload_kind);
    }

    #[test]
    fn any_words_parse_or_are_refused(words in any::<[u64; 2]>()) {
        let tag = (words[0] >> 32) as u8 & 0x0f;
        prop_assert_eq!(parse(words, Rank(0)).is_ok(), (1..=12).contains(&tag));
    }

    #[test]
    fn plain_headers_are_what_parse_says_of_them(
        header in any_header(), is_plain in any::<bool>(), payload_kind in any::<u8>(),
    ) {
        let mut header = Header { sequence: 0, acknowledgement: 0, asks: false, serial: Serial::NONE, ..header };
        if is_plain {
            header.tag = Tag::Ucast;
            header.channel = Channel::NONE;
            header.tree = TreeId::unicast(header.source).of(header.tree.protocol);
        }
        let is_plain = header.tag == Tag::Ucast
            && header.channel == Channel::NONE
            && header.tree.is_unicast_of(header.source);
        let expected = is_plain.then_some(PlainHeader {
            protocol: header.tree.protocol,
            size: header.size,
            credits: header.credits,
        });
        let words = emit(&header, 9, payload_kind);
        prop_assert_eq!(plain(words, 9, payload_kind, header.source), expected);
        prop_assert_eq!(plain(words, 8, payload_kind, header.source), None);
        prop_assert_eq!(plain(words, 9, payload_kind ^ 1, header.source), None);
    }
}
