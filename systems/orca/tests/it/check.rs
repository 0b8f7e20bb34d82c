//! Facts of checked programs: effects, accesses, types.

use weft_orca::check::{Accesses, Effect, Shape, Types, Value, VariableFacts, VariableKind};
use weft_orca::source::Sources;
use weft_orca::{Program, front_end};

fn program(text: &str) -> Program {
    let mut sources = Sources::default();
    sources.add("test.orca", text.to_owned()).expect("small");
    front_end(&sources).unwrap_or_else(|diagnostics| {
        panic!("{}", diagnostics.iter().map(|one| one.render(&sources, false)).collect::<String>())
    })
}

/// The effects of an operation's alternatives.
fn effects(program: &Program, name: &str) -> Vec<Effect> {
    let mut routines = program.facts.routines.iter();
    let routine = routines.find(|routine| routine.name == name).expect("an operation");
    routine.alternatives.iter().map(|alternative| alternative.effect).collect()
}

fn accesses(program: &Program, name: &str) -> (u64, u64) {
    let mut variables = program.facts.variables.iter();
    let local =
        |variable: &&VariableFacts| variable.name == name && variable.kind == VariableKind::Local;
    let accesses = variables.find(local).expect("a variable").accesses;
    (accesses.reads, accesses.writes)
}

const COUNTER: &str = include_str!("../../programs/counter.orca");
const QUEUE: &str = include_str!("../../programs/tsp.orca");
const ROWS: &str = include_str!("../../programs/asp.orca");

#[test]
fn operations_of_the_figures() {
    let program = program(COUNTER);
    assert_eq!(effects(&program, "inc"), [Effect::Write]);
    assert_eq!(effects(&program, "await"), [Effect::Read]);
    let main = program.facts.main.expect("OrcaMain");
    assert_eq!(program.facts.routine(main).name, "OrcaMain");
}

#[test]
fn each_guard_has_its_effect() {
    let program = program(QUEUE);
    assert_eq!(effects(&program, "Get"), [Effect::Write, Effect::Read]);
    assert_eq!(effects(&program, "Value"), [Effect::Read]);
    assert_eq!(effects(&program, "Lower"), [Effect::Write]);
}

/// An object type with one operation, and what its statements do.
fn effect_of(statements: &str) -> Effect {
    let text = format!(
        "type Pair = record\n  a, b: integer;\nend;\n\
         function Look(p: Pair);\nbegin\nend;\n\
         function Change(p: in out Pair);\nbegin\n  p.a := 1;\nend;\n\
         object implementation Inner;\n  x: integer;\n\
         operation get(): integer;\nbegin\n  return x;\nend;\n\
         operation put(v: integer);\nbegin\n  x := v;\nend;\nend;\n\
         object implementation Outer;\n  p: Pair;\n  s: set of integer;\n  inner: Inner;\n\
         operation test(out_of: out integer; v: integer);\n  local: Pair;\nbegin\n{statements}\n\
         end;\nend;\n"
    );
    effects(&program(&text), "test")[0]
}

#[test]
fn what_may_change_the_object_is_a_write() {
    for reads in [
        "local := p;",
        "local.a := p.b;",
        "Change(local);",
        "Look(p);",
        "out_of := inner$get() + p.a;",
        "p: Pair; p.a := 1;",
        "for x in s do out_of := x; od;",
    ] {
        assert_eq!(effect_of(reads), Effect::Read, "{reads}");
    }
    for writes in [
        "p.a := 1;",
        "p := local;",
        "Change(p);",
        "insert(1, s);",
        "out_of := from(s);",
        "inner$put(1);",
        "if v = 1 then p.b +:= 1; fi;",
        "while from(s) > 0 do od;",
    ] {
        assert_eq!(effect_of(writes), Effect::Write, "{writes}");
    }
}

#[test]
fn loops_count_tenfold_and_conditions_half() {
    let once = Accesses::ONCE;
    let program = program(COUNTER);
    assert_eq!(accesses(&program, "counter"), (once, 10 * once));
    let rows = self::program(ROWS);
    assert_eq!(accesses(&rows, "shares"), (10 * 10 * once, 10 * 10 * once / 2));
    let of_type = rows.facts.objects.iter().find(|object| object.name == "Rows").expect("Rows");
    assert_eq!(of_type.accesses, Accesses { reads: 100 * once, writes: 50 * once });
}

#[test]
fn types_and_bounds_are_known_to_what_follows() {
    let program = program(ROWS);
    let facts = &program.facts;
    let rows = facts.objects.iter().find(|object| object.name == "Rows").expect("Rows");
    let variable = facts.variable(rows.variables[0]);
    assert_eq!(facts.describe(variable.of), "array[integer] of array[integer] of integer");
    let Shape::Array { bounds, of } = &variable.shape else { panic!("no bounds") };
    assert_eq!(bounds.len(), 1);
    assert_eq!(facts.type_of(&bounds[0].1), Types::INTEGER);
    assert_eq!(**of, Shape::Plain);
    assert_eq!(rows.operations.len(), 2);
    let far = facts.constants.iter().find(|constant| constant.name == "Far").expect("Far");
    assert_eq!(far.value, Some(Value::Integer(1_000_000)));
}
