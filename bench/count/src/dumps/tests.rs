use super::{averages, read};

fn dump(total: u64) -> String {
    format!("positions: line\nevents: Ir\nsummary: {total}\n\nfl=a.c\nfn=a\n7 {total}\n")
}

#[test]
fn dumps_are_read_in_the_order_in_which_they_were_written() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    for (number, total) in [(1, 70), (2, 570), (3, 640)] {
        std::fs::write(directory.path().join(format!("out.{number}")), dump(total)).unwrap();
    }
    let dumps = read("empty 10\npacket 10\nmessage 10 20\n", &out).unwrap();
    let figures = [("packet".to_owned(), 50.0), ("message".to_owned(), 50.0)];
    assert_eq!(averages(&dumps).unwrap(), figures.into());
    assert!(read("empty 10\npacket 10\nput 10\ncall 10\n", &out).is_err(), "a dump is missing");
    assert!(read("empty 10 20 30\n", &out).is_err());
    assert!(read("ready\n", &out).is_err());
    assert!(averages(&read("packet 10\n", &out).unwrap()).is_err(), "nothing to subtract");
}
