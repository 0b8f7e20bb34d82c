//! No input makes the front end panic, and none makes it run out of stack.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::{files, read, source};

/// Checks a text, and formats it if it can be parsed; shows diagnostics if there are some.
fn survives(text: &str) {
    let sources = source("any.orca", text);
    if let Err(diagnostics) = weft_orca::front_end(&sources) {
        for diagnostic in &diagnostics {
            assert!(diagnostic.render(&sources, false).contains("Error"));
        }
    }
    let file = sources.ids().next().expect("one file");
    let parsed = weft_orca::parser::FileParser::default().parse(&sources, file);
    let text = weft_orca::format::format(&sources, &parsed.file, &parsed.comments);
    if parsed.diagnostics.is_empty() {
        let again = source("again.orca", &text);
        let file = again.ids().next().expect("one file");
        let reparsed = weft_orca::parser::FileParser::default().parse(&again, file);
        assert!(reparsed.diagnostics.is_empty(), "{text}\n{:?}", reparsed.diagnostics);
        let twice = weft_orca::format::format(&again, &reparsed.file, &reparsed.comments);
        assert_eq!(text, twice);
    }
}

const WORDS: &str = "and array bag begin case const div do else elsif end esac exit false fi for \
    fork from function generic graph guard if implementation import in inout mod module nil \
    nodename nodes not object od of on operation or out process record repeat return set shared \
    specification then true type union until while := +:= => | } { ] [ : , $ . .. ... = > >= < <= \
    - /= ) ( % + ; / * x y T OrcaMain integer 1 2.5 'c' \"text\" insert max f # \n";

fn words() -> Vec<&'static str> {
    WORDS.split(' ').filter(|word| !word.is_empty()).collect()
}

/// The words of a program, with the spaces and lines between them.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    for letter in text.chars() {
        let word = |letter: char| letter.is_alphanumeric() || letter == '_';
        match pieces.last_mut() {
            Some(last) if word(letter) && last.chars().all(word) => last.push(letter),
            _ => pieces.push(letter.to_string()),
        }
    }
    pieces
}

/// Number of cases that `ORCA_CASES` asks for.
fn asked() -> Option<u32> {
    std::env::var("ORCA_CASES").ok()?.parse().ok()
}

/// Cases from a fixed seed; `ORCA_CASES` asks for so many others, chosen at random.
fn config() -> ProptestConfig {
    let fixed = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) };
    match asked() {
        Some(cases) => ProptestConfig { cases, ..fixed },
        None => ProptestConfig { rng_seed: RngSeed::Fixed(7), ..fixed },
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_text(text in "\\PC{0,200}") {
        survives(&text);
    }

    #[test]
    fn any_tokens(tokens in prop::collection::vec(prop::sample::select(words()), 0..200)) {
        survives(&tokens.join(" "));
    }

    #[test]
    fn tokens_in_a_process(tokens in prop::collection::vec(prop::sample::select(words()), 0..60)) {
        survives(&format!("process OrcaMain();\nbegin\n{}\nend;\n", tokens.join(" ")));
    }

    #[test]
    fn changed_programs(
        program in 0_usize..5,
        changes in prop::collection::vec(
            (any::<prop::sample::Index>(), 0_u8..4, prop::sample::select(words())),
            1..6,
        ),
    ) {
        let paths = files("programs", "orca");
        let mut pieces = pieces(&read(&paths[program % paths.len()]));
        for (place, change, word) in changes {
            let place = place.index(pieces.len());
            match change {
                0 => drop(pieces.remove(place)),
                1 => pieces.insert(place, format!(" {word} ")),
                2 => pieces[place] = format!(" {word} "),
                _ => {
                    let other = (place + 7) % pieces.len();
                    pieces.swap(place, other);
                }
            }
        }
        survives(&pieces.concat());
    }
}

/// Repetitions of what nests.
#[test]
fn deep_programs() {
    let deep = |before: &str, open: &str, inside: &str, close: &str, after: &str| {
        for depth in [90, 110, 5_000] {
            let (open, close) = (open.repeat(depth), close.repeat(depth));
            survives(&format!("{before}{open}{inside}{close}{after}"));
        }
    };
    // Operators around parentheses around operators: what is deep is the sum.
    for levels in [3, 30] {
        let sum = " + 1".repeat(90);
        let close = format!("{sum})").repeat(levels);
        survives(&format!("const N = {}1{close}{sum};\n", "(".repeat(levels)));
    }
    let (begin, end) = ("process OrcaMain();\n  x: integer;\nbegin\n", "\nend;\n");
    let assign = "process OrcaMain();\n  x: integer;\nbegin\n  x := ";
    deep(assign, "(", "1", ")", ";\nend;\n");
    deep(assign, "-", "1", "", ";\nend;\n");
    deep(assign, "not ", "true", "", ";\nend;\n");
    deep(assign, "1 + ", "1", "", ";\nend;\n");
    deep(assign, "[", "1", "]", ";\nend;\n");
    deep(assign, "x[", "1", "]", ";\nend;\n");
    deep(assign, "x", "", ".x", ";\nend;\n");
    deep(assign, "f(", "1", ")", ";\nend;\n");
    deep(begin, "if true then ", "", " fi;", end);
    deep(begin, "if true then elsif true then fi; ", "", "", end);
    deep(begin, "while true do ", "", " od;", end);
    deep(begin, "do ", "", " od;", end);
    deep(begin, "begin ", "", " end;", end);
    deep(begin, "repeat ", "", " until true;", end);
    deep(begin, "case x of | 1 => ", "", " esac;", end);
    deep(begin, "guard true do ", "", " od;", end);
    deep("type T = ", "set of ", "integer", "", ";\n");
    deep("type T = ", "array[integer] of ", "integer", "", ";\n");
    deep("type T = ", "record x: ", "integer", "; end", ";\n");
    deep("type T = ", "array[", "integer", "] of integer", ";\n");
}

/// Long chains of declarations, each made of the next or of the last one; twice as long where
/// `ORCA_CASES` asks for more of all, since they take time by the square of their length.
#[test]
fn long_chains() {
    let length = if asked().is_some() { 2_000 } else { 1_000 };
    let chain = |line: &dyn Fn(usize) -> String| (0..length).map(line).collect::<String>();
    survives(&chain(&|n| format!("type T{n} = T{};\n", n + 1)));
    survives(&chain(&|n| format!("type T{} = set of T{n};\n", n + 1)));
    survives(&chain(&|n| format!("type T{n} = record a: T{}; end;\n", n + 1)));
    survives(&chain(&|n| format!("const c{n} = c{};\n", n + 1)));
    survives(&chain(&|n| {
        let next = n + 1;
        format!(
            "object implementation O{n};\n  o: O{next};\n  operation f();\n  begin\n    o$f();\n  \
             end;\nend;\n"
        )
    }));
    survives(&chain(&|n| {
        format!("process P{n}(o: shared O);\nbegin\n  fork P{}(o);\nend;\n", n + 1)
    }));
}
