//! Files of a process.

use super::*;

#[test]
fn mappings_of_files_are_read() {
    let line = "7f3b4c000000-7f3b4c021000 r-xp 00028000 fe:01 1835  /usr/lib/a name.so";
    let read = Line::of(line).unwrap();
    assert_eq!(read.path, Some("/usr/lib/a name.so"));
    assert_eq!(read.mapping.addresses, 0x7f3b_4c00_0000..0x7f3b_4c02_1000);
    assert_eq!((read.mapping.offset, read.mapping.runs), (0x28000, true));
    assert!(!read.can_be_written);
    let written = line.replace("r-xp", "rw-p");
    let written = Line::of(&written).unwrap();
    assert!(!written.mapping.runs && written.can_be_written);
    let heap = Line::of("7f3b4c000000-7f3b4c021000 rw-p 00000000 00:00 0 [heap]").unwrap();
    assert_eq!((heap.path, heap.can_be_written), (None, true));
    for none in ["", "x-y r-xp 0 0 0 /a"] {
        assert!(Line::of(none).is_none(), "{none}");
    }
}
