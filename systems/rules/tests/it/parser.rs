//! Rules that are right, and what is said of those that are wrong.

use weft_rules::{Rules, parse};

/// Rules with a part that is wrong in most tests; the rest is right.
const TWO: &str = "game g for 2 piece man \"m\" \"o\" piece king \"K\" \"Q\"
board \"m . o . .\"
move step along e: [ own | empty ] -> [ empty | @1 ]
end loss when stuck\n";

const PUZZLE: &str = "game g for 1 numbers 0 to 3 once board \"0 1 2 3\"
move slide along w e: [ 0 | any ] -> [ @2 | @1 ]
goal sum(1 where here = cell) = 4\n";

fn rules(text: &str) -> Rules {
    parse(text).unwrap_or_else(|errors| panic!("{errors:?}"))
}

/// Checks that a text has one error: what it says, the text at its place, and part of its help.
fn refused(text: &str, message: &str, place: &str, help: &str) {
    let errors = parse(text).unwrap_err();
    let [error] = &errors[..] else { panic!("{errors:?}") };
    assert_eq!(error.message, message);
    assert_eq!(&text[error.span.start..error.span.end], place, "{message}");
    assert!(error.help.contains(help), "{message}: {}", error.help);
}

fn refused_move(text: &str, message: &str, place: &str, help: &str) {
    refused_behind(TWO, &format!("move m {text}"), message, place, help);
}

fn refused_behind(text: &str, part: &str, message: &str, place: &str, help: &str) {
    refused(&format!("{text}{part}"), message, place, help);
}

#[test]
fn rules_say_what_they_say() {
    assert_eq!(rules(TWO).moves.len(), 1);
    let rules = rules(PUZZLE);
    assert_eq!((rules.name.as_str(), rules.players, rules.board.cells()), ("g", 1, 4));
}

#[test]
fn characters_and_texts_are_checked() {
    refused_behind(TWO, "grain 5 ;", "unexpected character `;`", ";", "remove it");
    refused_behind(TWO, "\"abc", "unterminated text", "\"", "close it");
}

#[test]
fn parts_are_in_order_and_not_twice() {
    refused("piece a \"a\"", "`piece` comes before `game`", "piece", "rules begin with `game`");
    let text = "game g for 1 board \"a b\"";
    refused(text, "`board` comes before `piece` or `numbers`", "board", "then the board");
    let text = "game g for 1 piece a \"a\" move";
    refused(text, "`move` comes before `board` or `ring`", "move", "then the board");
    refused_behind(TWO, "grain 5 grain 6", "`grain` is there twice", "grain", "one of the two");
    refused_behind(TWO, "goal 1 = 1", "a game for 2 has no `goal`", "goal", "`end` and `value`");
    refused_behind(PUZZLE, "value 1", "a game for 1 has no `value`", "value", "`goal` and `bound`");
    refused_behind(TWO, "mvoe", "`mvoe` begins no part", "mvoe", "did you mean `move`?");
    refused_behind(TWO, "7", "`7` begins no part", "7", "parts begin with game, piece");
    refused_behind(
        TWO,
        "otherwise otherwise",
        "there are no moves before `otherwise`",
        "otherwise",
        "write moves before it",
    );
}

#[test]
fn whole_rules_need_their_parts() {
    refused("", "there is no game", "", "begin with `game`");
    refused("game g for 1 piece a \"a\"", "there is no board", "game", "draw the first position");
    refused(
        "game g for 1 piece a \"a\" board \"a .\"",
        "there is no move",
        "game",
        "write a `move`",
    );
    let text = "game g for 1 piece a \"a\" board \"a .\" move m: [ a ] -> [ empty ]";
    refused(text, "there is no goal", "game", "when the puzzle is solved");
    let text = "game g for 2 piece a \"a\" \"b\" board \"a .\" move m: [ own ] -> [ empty ]";
    refused(text, "there is no end", "game", "end loss when stuck");
    let pieces: String =
        (0..7).map(|kind| format!("piece p{kind} \"{kind}\" \"x{kind}\"\n")).collect();
    let board = ". . . . . . . .\n".repeat(8);
    let text = format!(
        "game g for 2 {pieces} board \"{board}\" move m: [ own ] -> [ empty ] end draw when stuck"
    );
    refused(&text, "a position takes 40 bytes, and 29 are the most", "board", "smaller board");
}

#[test]
fn names_are_new_and_known() {
    refused_behind(
        TWO,
        "zone row = row 0",
        "`row` is a word of the language, and no name",
        "row",
        "another name",
    );
    refused_behind(
        TWO,
        "zone king = row 0",
        "`king` has a meaning already",
        "king",
        "another name",
    );
    refused_behind(
        TWO,
        "zone = row 0",
        "expected a name of a zone, found `=`",
        "=",
        "begin with a letter",
    );
    refused_behind(TWO, "zone a = row 0 zone b = aa", "`aa` is no zone", "aa", "did you mean `a`?");
    refused_behind(TWO, "zone b = middle", "`middle` is no zone", "middle", "there is no zone yet");
    refused_behind(TWO, "value count(own kingg)", "expected `)`, found `kingg`", "kingg", "form");
    refused_behind(TWO, "value count(knig)", "`knig` is no piece", "knig", "did you mean `king`?");
    refused_behind(TWO, "directions d = 5", "expected a direction, found `5`", "5", "n, s, w, e");
    refused_behind(TWO, "counter gold to 9 value golf", "`golf` is no counter", "golf", "`gold`?");
    refused_behind(
        TWO,
        "shared clock to 9 value other clock",
        "this counter is of both players",
        "other clock",
        "`shared`",
    );
}

#[test]
fn boards_are_checked() {
    let begin = "game g for 2 piece a \"a\" \"b\" ";
    let picture = |text: &str| format!("{begin}board \"{text}\"");
    refused(
        &picture("a . .\n. ."),
        "row 1 has 2 cells, and row 0 has 3",
        "\"a . .\n. .\"",
        "no place",
    );
    refused(&picture("a"), "a board of 1 x 1 cells", "\"a\"", "from 2 to 64");
    refused(&picture("a c"), "`c` is nothing that a cell holds", "\"a c\"", "there are: . # a b;");
    refused(
        &format!("{begin}ring \"a . #\""),
        "all cells of this board are places",
        "\"a . #\"",
        "without `#`",
    );
    refused(
        &format!("{begin}board 5"),
        "expected a picture of the first position, found `5`",
        "5",
        "in quotes",
    );
    refused(
        &format!("{begin}board \"a # .\nb . .\" turn half"),
        "this board cannot be turned so",
        "half",
        "places where",
    );
    refused(
        &format!("{begin}board \"a .\" turn around"),
        "expected `half` or `flip`, found `around`",
        "around",
        "neither",
    );
}

#[test]
fn contents_of_cells_are_checked() {
    let numbers = "game g for 1 numbers 0 to 3 ";
    refused(
        &format!("{numbers} once board \"0 1 2 2\""),
        "a number is missing, or there twice",
        "\"0 1 2 2\"",
        "is there once",
    );
    refused(
        &format!("{numbers} board \"0 4\""),
        "`4` is nothing that a cell holds",
        "\"0 4\"",
        "numbers from 0 to 3",
    );
    refused(
        &format!("{numbers} piece a \"a\""),
        "cells hold pieces and numbers",
        "\"a\"",
        "leave one",
    );
    refused(
        "game g for 1 piece a \"a\" numbers 0 to 3",
        "cells hold pieces and numbers",
        "numbers",
        "leave one",
    );
    refused("game g for 1 piece a \".\"", "`.` is no sign", "\".\"", "an empty cell");
    refused(
        "game g for 1 piece a \"a\" piece b \"a\"",
        "`a` is a sign already",
        "\"a\"",
        "its own",
    );
    refused_behind(
        TWO,
        "piece late \"l\" \"L\"",
        "this piece cannot be here",
        "\"L\"",
        "before the board",
    );
    refused_behind(TWO, "directions d = (0, 0)", "no step", ")", "not both 0");
    refused("game g for 3", "expected a number from 1 to 2, found `3`", "3", "within these");
}

#[test]
fn moves_are_checked() {
    refused_move("along e [ own ]", "expected `:`, found `[`", "[", "a move is: its name");
    refused_move(
        ": [ own | empty ] -> [ empty | @1 ]",
        "a pattern of several cells needs directions",
        "[ own | empty ]",
        "write `along`",
    );
    refused_move(
        "along e: [ own ] -> [ empty ]",
        "a pattern of one cell goes nowhere",
        "[ own ]",
        "cells that follow",
    );
    refused_move(
        "along e: [ own | edge | empty ]",
        "`edge` within a pattern",
        "edge",
        "write it last",
    );
    refused_move(
        "along e: [ own+ | empty ]",
        "`+` and `*` stand between others",
        "own+",
        "one cell each",
    );
    refused_move(
        "along e: [ own | empty ] -> [ empty ]",
        "2 cells become 1",
        "[ empty ]",
        "or `same`",
    );
    refused_move(
        "along e: [ own | edge ] -> [ same | empty ]",
        "nothing comes beyond the edge",
        "[ same | empty ]",
        "write `same`",
    );
}

#[test]
fn contents_after_a_move_are_checked() {
    refused_move(
        "along e: [ own | empty ] -> [ 5 | same ]",
        "expected what comes into the cell, found `5`",
        "5",
        "`empty`, `same`",
    );
    refused_move(
        "along e: [ own | other+ | own ] -> [ @2 | same | same ]",
        "this is not one cell",
        "2",
        "tested once",
    );
    refused_move(
        "along e: [ own | empty ] -> [ empty | own ]",
        "expected a piece, found `]`",
        "]",
        "there are: man, king",
    );
    refused_move(
        "along e again: [ own | empty ] -> [ empty | @1 ]",
        "`again` on a move that takes nothing",
        "again:",
        "fewer",
    );
    refused_move(
        "no return: [ own ] -> [ empty ]",
        "`no return` without directions",
        "no return:",
        "write `along`",
    );
    refused_move(
        "along e no return: [ own | empty ] -> [ empty | @1 ]",
        "`no return` cannot be here",
        "no return:",
        "`once`",
    );
    refused_move(
        ": [ own ] -> [ empty ] sow",
        "nothing can be sown on this board",
        "sow",
        "a ring of numbers",
    );
    refused_move(
        ": [ own ] -> [ empty ] collect",
        "`collect` without `sow`",
        "collect",
        "write `sow` before",
    );
}

#[test]
fn moves_and_ends_are_bounded_and_checked() {
    let long = format!(": [ own{} ]", " | own".repeat(64));
    refused_move(&long, "this pattern is too long", "own", "at most 64");
    refused_behind(
        TWO,
        "become own or empty -> own king",
        "only one piece can change",
        "own",
        "write the piece",
    );
    let many: String = (0..64).map(|n| format!("move m{n}: [ own ] -> [ empty ]\n")).collect();
    refused_behind(TWO, &many, "too many moves", "[", "at most 64");
    refused_behind(
        TWO,
        "end when stuck",
        "expected an outcome, found `when`",
        "when",
        "`win`, `loss`",
    );
}

#[test]
fn moves_without_return_need_numbers_of_their_own() {
    let text = "game g for 1 numbers 0 to 48 once board \"\n";
    let rows: Vec<String> =
        (0..7).map(|row| (0..7).map(|column| format!("{} ", 7 * row + column)).collect()).collect();
    let text = format!(
        "{text}{}\" move slide along orthogonal no return: [ 0 | any ] -> [ @2 | @1 ]
        move swap along around: [ 1 to 9 | any ] -> [ @2 | @1 ]
        goal 1 = 1",
        rows.join("\n")
    );
    let errors = parse(&text).unwrap_err();
    assert_eq!(errors[0].message, "a position takes 49 bytes, and 29 are the most");
    let text = "game g for 1 numbers 0 to 15 once board \"0 1 2 3 4 5 6 7\n8 9 10 11 12 13 14 15\"
        move slide along w e no return: [ 0 | any ] -> [ @2 | @1 ]
        move swap along around orthogonal (2, 0) (-2, 0) (3, 0) (-3, 0) (2, 1) (-2, 1) (2, -1) (3, 1):
          [ 1 to 9 | any ] -> [ @2 | @1 ]
        goal 1 = 1";
    refused(text, "moves have no numbers of their own here", "move", "leave `no return` out");
}

#[test]
fn expressions_are_checked() {
    let value = |text: &str, message: &str, place: &str, help: &str| {
        refused_behind(TWO, &format!("value {text}"), message, place, help);
    };
    value("1 = 1", "this is a condition, and a number is wanted", "1 = 1", "make numbers");
    value("cell", "`cell` means no cell here", "cell", "`during`");
    value("sum(here)", "cells hold no numbers", "here", "`count`");
    value("+", "expected a value, found `+`", "+", "`count`, `sum`");
    value("10000", "expected a number from 0 to 9999, found `10000`", "10000", "within");
    value(
        "1 / count(own)",
        "expected a number from 1 to 9999, found `count`",
        "count",
        "write one",
    );
    value("sum(1 over)", "expected a zone, found `)`", ")", "declare it before");
    value("min(1)", "expected `,`, found `)`", ")", "form");
    let deep = format!("{}1", "(".repeat(100));
    let errors = parse(&format!("{TWO}value {deep}")).unwrap_err();
    assert_eq!(errors[0].message, "this is nested too deeply");
    refused_behind(
        TWO,
        "always count(own)",
        "this is a number, and a condition is wanted",
        "count(own)",
        "compare it",
    );
    refused_behind(TWO, "pass when tired", "expected `stuck`, found `tired`", "tired", "form");
}

#[test]
fn a_run_reports_several_errors_and_where_they_are() {
    let text = format!("{TWO}zone a = rwo 3\nvalue 1 = 1\n");
    let errors = parse(&text).unwrap_err();
    let rendered: String = errors.iter().map(|error| error.render("g.rules", &text)).collect();
    assert!(
        rendered.contains("`rwo` is no zone") && rendered.contains("g.rules:5:10"),
        "{rendered}"
    );
    assert!(
        rendered.contains("this is a condition") && rendered.contains("g.rules:6:7"),
        "{rendered}"
    );
    let errors = parse(&" ".repeat((1 << 20) + 1)).unwrap_err();
    assert_eq!(errors[0].message, "the text is too long");
}
