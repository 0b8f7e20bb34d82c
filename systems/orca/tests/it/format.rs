//! Texts in the one style.

use weft_orca::format::format;
use weft_orca::parser::FileParser;
use weft_orca::source::Sources;

/// Longest line, in characters.
const WIDTH: usize = 100;

fn formatted(text: &str) -> String {
    let mut sources = Sources::default();
    let file = sources.add("test.orca", text.to_owned()).expect("small");
    let parsed = FileParser::default().parse(&sources, file);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    format(&sources, &parsed.file, &parsed.comments)
}

/// Checks what becomes of a text, and that nothing becomes of this.
fn becomes(text: &str, expected: &str) {
    assert_eq!(formatted(text), expected);
    assert_eq!(formatted(expected), expected);
}

#[test]
fn comments_stay_where_they_are() {
    let text = "\
# before all

process P();  # behind a heading
  # before a variable
  x: integer;  # behind a variable
# before begin
begin  # behind begin


  # first
  x := 1;  # behind a statement

  # before if
  if x = 1 then  # behind then
    # alone
  else  # behind else
    x := 2;
    # last in a block
  fi;  # behind fi
  case x of  # behind of
  | 1 =>  # behind an arrow
    exit;
  esac;
  # last
end;  # behind end
# after all
";
    let expected = text.replace("# before begin", "  # before begin");
    becomes(text, &expected.replace("# behind begin\n\n\n", "# behind begin\n"));
}

#[test]
fn comments_within_a_statement_come_before_it() {
    becomes(
        "process P();\nbegin\n  x := 1 + # one\n    2; # two\nend;\n",
        "process P();\nbegin\n  # one\n  x := 1 + 2;  # two\nend;\n",
    );
}

#[test]
fn comments_in_types() {
    becomes(
        "type G = graph # all\n  first: integer; # field\n  # nodes follow\nnodes # each\n  \
         # of a node\n  next: nodename of G;\nend; # done\n",
        "type G = graph  # all\n  first: integer;  # field\n  # nodes follow\nnodes  # each\n  \
         # of a node\n  next: nodename of G;\nend;  # done\n",
    );
}

#[test]
fn long_lines_are_broken() {
    let name = "a_long_name_of_a_variable";
    let sum = [name; 6].join(" + ");
    let text = format!("process P();\nbegin\n  {name} := {sum};\nend;\n");
    let lines: Vec<String> = formatted(&text).lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), 6, "{lines:?}");
    assert!(lines.iter().all(|line| line.len() <= WIDTH));
    assert_eq!(lines[3], format!("      {name} + {name} + {name} +"));
    becomes(&text, &formatted(&text));
}

#[test]
fn one_empty_line_is_kept() {
    becomes(
        "process P();\n\n\n  x: integer;\nbegin\n\n  x := 1;\n\n\n  x := 2;\n\nend;\n",
        "process P();\n  x: integer;\nbegin\n  x := 1;\n\n  x := 2;\nend;\n",
    );
}

#[test]
fn words_and_signs_have_one_form() {
    becomes(
        "PROCESS P(x : INOUT integer);\nBEGIN\n  IF x ≥ 1 THEN x := x % 2 ; FI;\nEND;\n",
        "process P(x: in out integer);\nbegin\n  if x >= 1 then\n    x := x mod 2;\n  fi;\nend;\n",
    );
}
