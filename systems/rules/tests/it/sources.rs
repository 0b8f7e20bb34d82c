//! Rules in C, libraries, and what is neither.

use crate::common::{Perft, library, load};
use std::fs;
use std::process::Command;
use weft_rules::{Error, GameVisitor, SHIPPED, Source, Written};
use weft_search::Game;

const NIM: &str = include_str!("nim.c");

/// Sums of at most so many moves of 1, 2 or 3 from a heap.
fn lines_of_nim(heap: u64, depth: u16) -> u64 {
    match depth {
        0 => 1,
        _ => (1..=heap.min(3)).map(|taken| lines_of_nim(heap - taken, depth - 1)).sum(),
    }
}

/// Value of nim by minimax, which is known: a multiple of four is lost.
struct Minimax;

impl GameVisitor for Minimax {
    type Output = i16;

    fn visit<G: Game + Written>(self, first: G) -> i16 {
        minimax(&first)
    }
}

fn minimax<G: Game>(position: &G) -> i16 {
    let best = position.moves().map(|by| -minimax(&position.play(by))).max();
    best.unwrap_or_else(|| position.value())
}

#[test]
fn c_and_the_library_that_it_becomes_are_rules() {
    let folder = tempfile::tempdir().unwrap();
    let [c, so] = ["nim.c", "nim.so"].map(|name| folder.path().join(name));
    fs::write(&c, NIM).unwrap();
    let include = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bindings/c/include");
    let mut compiler = Command::new("cc");
    compiler.args(["-O2", "-shared", "-fPIC", "-Wall", "-Werror", "-I"]);
    let compiled = compiler.arg(include).arg(&c).arg("-o").arg(&so).status().unwrap();
    assert!(compiled.success());
    for path in [c, so] {
        let library = Source::file(&path).unwrap().load().unwrap();
        assert_eq!((library.name(), library.players(), library.bytes()), ("nim", 2, 1));
        let lines: Vec<u64> = (1..=9).map(|depth| lines_of_nim(21, depth)).collect();
        assert_eq!(library.game(Perft(9)), lines);
        assert_eq!(library.game(Minimax), 30_000);
        assert_eq!(library.game(Text), "15");
        assert!(library.puzzle(Never).is_none());
    }
}

struct Text;

impl GameVisitor for Text {
    type Output = String;

    fn visit<G: Game + Written>(self, first: G) -> String {
        first.text()
    }
}

struct Never;

impl weft_rules::PuzzleVisitor for Never {
    type Output = ();

    fn visit<P: weft_search::Puzzle + Written>(self, _: P) {}
}

fn error_of(source: Result<Source, Error>) -> String {
    source.and_then(|source| source.load().map(|_| ())).unwrap_err().to_string()
}

#[test]
fn what_is_no_rules_is_refused_with_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        error_of(Source::file(&path))
    };
    for (name, text, said) in [
        ("a.txt", "", "a text ends in .rules, C in .c, a compiled library in .so"),
        ("a.c", "int x = ;", "a.c:1:9: error"),
        ("b.c", "int nothing;", "undefined symbol: weft_game"),
        ("c.c", "const unsigned weft_game = 7;", "has version 7, and this is 1"),
        ("d.so", "no library", "d.so cannot be loaded"),
        ("e.c", &NIM.replace(".check = check,", ""), "lacks one of first, check"),
        ("f.c", &NIM.replace(".bytes = 1", ".bytes = 30"), "has other players, bytes or numbers"),
        ("g.c", &NIM.replace(".players = 2", ".players = 1"), "is of a puzzle, and lacks is_goal"),
        ("h.rules", "game", "expected a name of the game, found the end of the text"),
    ] {
        let error = file(name, text);
        assert!(error.contains(said), "{name}: {error}");
    }
    let error = error_of(Source::named("/no/such.rules"));
    assert!(error.contains("/no/such.rules cannot be read: No such file"), "{error}");
}

#[test]
fn shipped_rules_are_short() {
    for (name, text) in SHIPPED {
        assert!(text.lines().count() < 100, "{name}");
        assert!(!Source::named(name).unwrap().c().unwrap().unwrap().is_empty());
    }
}

/// Bytes of positions, changed at random: what is taken for a position is played on.
struct Hostile;

impl GameVisitor for Hostile {
    type Output = [u32; 2];

    fn visit<G: Game + Written>(self, first: G) -> [u32; 2] {
        let mut random = fastrand::Rng::with_seed(4);
        let (mut taken, mut refused) = (0, 0);
        let mut bytes = vec![0; G::BYTES];
        for round in 0..2_000 {
            let mut position = first;
            for _ in 0..round % 20 {
                let moves: Vec<u8> = position.moves().collect();
                let Some(by) = random.choice(moves) else { break };
                position = position.play(by);
            }
            position.encode(&mut bytes);
            assert_eq!(G::decode(&bytes).unwrap().hash(), position.hash());
            assert_eq!(position.read(&position.text()).unwrap().hash(), position.hash());
            let changed = random.usize(..G::BYTES);
            bytes[changed] ^= 1 << random.u8(..8);
            match G::decode(&bytes) {
                Some(position) => {
                    taken += 1;
                    let all = position.moves().map(|by| position.play(by).moves().count());
                    let _ = (all.sum::<usize>(), position.value(), position.longest());
                }
                None => refused += 1,
            }
        }
        assert!(G::decode(&bytes[1..]).is_none());
        [taken, refused]
    }
}

#[test]
fn bytes_of_a_peer_are_positions_or_refused() {
    for (name, _) in SHIPPED {
        let [taken, refused] = library(name).game(Hostile);
        assert!(refused > 200 && taken + refused == 2_000, "{name}: {taken} {refused}");
    }
}

#[test]
fn all_of_the_language_becomes_c() {
    let text = "game all for 2
        piece a \"a\" \"A\" piece b \"b\" \"B\" piece c \"c\" \"C\"
        board \"a . # b\n. c . .\n. C . A\nB . # .\"
        turn flip
        zone top = row 0 + column 3 + cells 5 to 6
        counter gold to 9 from 2
        shared clock to 200
        directions far = (2, 0) (-2, 0) n
        move hop from top along far: [ own | any | edge or empty in top ] -> [ @1 | same | same ]
          where row(cell) + column(cell) > 0 and not cell in top or cell in 3 to 5
          need gold > 0
          let gold = gold - 1
          let clock = min(clock + 1, max(200, abs(-3)) / 2)
        otherwise
        move slide each orthogonal: [ own a | full* | empty ] -> [ empty | same | own b ]
        move go: [ own ] -> [ own c ]
        become own a or own b in top -> own c
        pass when stuck
        end win when other gold = 0
        end draw when clock >= 100
        end score gold - other gold when stuck
        always clock <= 200
        value sum(cell where cell /= 3) - count(a or c) * exists_none
        longest 200 - clock";
    let text = text.replace("exists_none", "count([ b | any ] along e)");
    let counted = load("all", &text).game(Perft(3));
    assert!(counted.iter().all(|lines| *lines > 0), "{counted:?}");
    let [taken, refused] = load("all", &text).game(Hostile);
    assert!(taken + refused == 2_000 && refused > 200);
}
