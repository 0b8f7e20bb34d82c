//! Files of a process.

use super::*;

#[test]
fn mappings_of_files_are_read() {
    let line = "7f3b4c000000-7f3b4c021000 r-xp 00028000 fe:01 1835  /usr/lib/a name.so";
    let (name, read) = mapping(line).unwrap();
    assert_eq!(name, "/usr/lib/a name.so");
    assert_eq!(read.addresses, 0x7f3b_4c00_0000..0x7f3b_4c02_1000);
    assert_eq!((read.offset, read.runs), (0x28000, true));
    assert!(!mapping(&line.replace("r-xp", "rw-p")).unwrap().1.runs);
    for none in ["", "7f3b4c000000-7f3b4c021000 rw-p 00000000 00:00 0 [heap]", "x-y r-xp 0 0 0 /a"]
    {
        assert!(mapping(none).is_none(), "{none}");
    }
}
