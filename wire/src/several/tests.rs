use super::*;
use crate::network::tests::any_header;
use proptest::prelude::*;

fn any_entry() -> impl Strategy<Value = Entry> {
    (any_header(), any::<(u16, u64, u64)>()).prop_map(|(header, (destination, number, tag))| {
        Entry { number, tag, ..Entry::new(Rank(destination), &header) }
    })
}

proptest! {
    #[test]
    fn parse_undoes_emit(entry in any_entry()) {
        prop_assert_eq!(parse(&emit(&entry)), entry);
        prop_assert_eq!(destination(&emit(&entry)), entry.destination);
    }

    #[test]
    fn a_header_is_what_is_common_and_what_is_its_receivers(header in any_header()) {
        prop_assert_eq!(Entry::new(Rank(3), &header).header(&common(&header)), header);
    }

    #[test]
    fn what_was_put_is_split_again(header in any_header(), entries in prop::collection::vec(any_entry(), 0..40)) {
        let body = vec![7; envelope::body_bytes(&header)];
        let mut contents = vec![0xff; envelope::packet_bytes(body.len())];
        envelope::put(&mut contents, &common(&header), &body);
        let packet_bytes = contents.len();
        entries.iter().for_each(|entry| contents.extend(emit(entry)));
        prop_assert_eq!(envelope::SIZE + contents.len(), frame_bytes(body.len(), entries.len()));
        match split(&contents) {
            Some(Contents { common: found, packet, entries: table }) => {
                prop_assert_eq!(found, common(&header));
                prop_assert_eq!(packet.len(), packet_bytes);
                let parsed: Vec<Entry> = table.iter().map(parse).collect();
                prop_assert_eq!(&parsed, &entries);
                prop_assert!((2..=MOST).contains(&entries.len()));
            }
            None => prop_assert!(!(2..=MOST).contains(&entries.len())),
        }
        contents.push(0);
        prop_assert!(split(&contents).is_none(), "a piece of an entry");
    }

    #[test]
    fn any_bytes_are_such_a_frame_or_none(mut contents in prop::collection::vec(any::<u8>(), 0..300)) {
        if contents.len() > 6 {
            contents[..6].copy_from_slice(&[network::VERSION, 2, 0, 0, 8, 0]);
        }
        if let Some(Contents { common: header, packet, entries }) = split(&contents) {
            prop_assert_eq!(packet.len(), envelope::packet_bytes(usize::from(header.size)));
            prop_assert_eq!(packet.len() + entries.len() * ENTRY, contents.len());
        }
    }
}

#[test]
fn the_room_in_a_frame_is_what_the_table_leaves() {
    for (bytes, receivers, room) in [(1472, 2, 1352), (1472, 8, 1160), (1500, 8, 1184), (120, 2, 0)]
    {
        assert_eq!(body_room(bytes, receivers), Some(room));
        assert!(frame_bytes(room, receivers) <= bytes);
        assert!(frame_bytes(room + 1, receivers) > bytes);
    }
    assert_eq!(body_room(119, 2), None);
}

#[test]
fn the_layout_of_an_entry_is_frozen() {
    let entry = Entry {
        destination: Rank(0x0201),
        credits: 0x0403,
        channel: Channel(Some(Rank(0x0605))),
        asks: false,
        serial: Serial::from_bits(0x0403),
        sequence: 0x0c0b_0a09,
        acknowledgement: 0x100f_0e0d,
        number: 0x1817_1615_1413_1211,
        tag: 0x201f_1e1d_1c1b_1a19,
    };
    let mut expected: [u8; ENTRY] = std::array::from_fn(|i| i as u8 + 1);
    expected[6..8].copy_from_slice(&[6, 8]);
    assert_eq!(emit(&entry), expected);
}
