use super::{Cost, Dump};

/// A dump in the words of callgrind 3.19.
const TEXT: &str = "\
# callgrind format
version: 1
creator: callgrind-3.19.0
cmd:  ./t
part: 1

desc: Trigger: --dump-after=written

positions: line
events: Ir
summary: 90

ob=t
fl=t.c
fn=main
cob=libstep.so
cfi=step.c
cfn=counted
calls=10 6
8 90

fn=counted
6 40
cfn=step
calls=10 5
6 50

ob=libstep.so
fl=step.c
fn=step
5 20
fi=inlined.h
7 30
";

#[test]
fn costs_are_by_function_and_by_line() {
    let dump = Dump::parse(TEXT).unwrap();
    assert_eq!(dump.total, 90);
    assert_eq!(dump.functions["main"], Cost { own: 0, inclusive: 90 });
    assert_eq!(dump.functions["counted"], Cost { own: 40, inclusive: 90 });
    assert_eq!(dump.functions["step"], Cost { own: 50, inclusive: 50 });
    let lines: Vec<_> =
        dump.lines.iter().map(|((file, line), cost)| (&**file, *line, *cost)).collect();
    assert_eq!(lines, [("inlined.h", 7, 30), ("step.c", 5, 20), ("t.c", 6, 40)]);
    assert_eq!(dump.objects, [("libstep.so".to_owned(), 50), ("t".to_owned(), 40)].into());
}

#[test]
fn what_is_no_dump_is_refused() {
    assert!(Dump::parse("").is_err());
    assert!(Dump::parse("summary: many\n").is_err());
    assert!(Dump::parse("summary: 5\nfn=main\n8\n").is_err());
}
