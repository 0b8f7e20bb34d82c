//! Operations: what they do to a state, what Weft calls, and what programs call (thesis 7.1.2).
//!
//! Arguments and result are in a *frame*, which is on the caller's stack where the object is here,
//! and on the stack of whoever executes what was shipped elsewhere.

use super::Generator;
use super::code::Role;
use super::names::{object_name, quoted};
use super::statements::Statements;
use super::values::address;
use crate::check::{Effect, ObjectId, RoutineId, Types, VariableId};
use crate::tree::{Block, Mode, Routine, StatementKind};

/// The functions of one operation.
struct Operation<'g, 'p> {
    generator: &'g Generator<'p>,
    object: String,
    number: usize,
    id: RoutineId,
    name: String,
}

impl Generator<'_> {
    /// All functions of an operation, which has this number in its type.
    pub fn operation(&self, object: ObjectId, number: usize, id: RoutineId) -> String {
        let Some(routine) = self.routines.get(&id) else { return String::new() };
        let (object, name) = (object_name(object), self.routine_name(id));
        let operation = Operation { generator: self, object, number, id, name };
        let facts = self.facts.routine(id);
        let mut text = operation.frame();
        for (there, effect) in [(facts.reads(), Effect::Read), (facts.writes(), Effect::Write)] {
            if there {
                text += &operation.alternatives(routine, effect);
            }
        }
        text += &operation.shipped();
        for (there, effect) in [(facts.reads(), Effect::Read), (facts.writes(), Effect::Write)] {
            if there {
                text += &operation.adapters(effect);
            }
        }
        text + &operation.called()
    }
}

fn word(effect: Effect) -> &'static str {
    match effect {
        Effect::Read => "read",
        Effect::Write => "write",
    }
}

impl Operation<'_, '_> {
    fn parameters(&self) -> &[VariableId] {
        &self.generator.facts.routine(self.id).parameters
    }

    /// True for parameters that are in the frame themselves; of others the frame has the address.
    fn is_by_value(&self, id: VariableId) -> bool {
        self.generator.mode(id) == Mode::In
            && self.generator.is_flat(self.generator.facts.variable(id).of)
    }

    fn type_of(&self, id: VariableId) -> String {
        self.generator.type_name(self.generator.facts.variable(id).of)
    }

    fn frame(&self) -> String {
        let generator = self.generator;
        let result = generator.result_name(generator.facts.routine(self.id).result);
        let mut members = String::new();
        for parameter in self.parameters() {
            let (of, name) = (self.type_of(*parameter), generator.variable_name(*parameter));
            let star = if self.is_by_value(*parameter) { "" } else { "*" };
            let constant = match (generator.mode(*parameter), star) {
                (Mode::In, "*") => "const ",
                _ => "",
            };
            members += &format!("    {constant}{of} {star}{name};\n");
        }
        format!("\ntypedef struct {{\n{members}    {result} result;\n}} {}_frame;\n", self.name)
    }

    /// Executes one of the alternatives with this effect; false if their guards are false.
    fn alternatives(&self, routine: &Routine, effect: Effect) -> String {
        let Operation { object, name, .. } = self;
        let facts = self.generator.facts.routine(self.id);
        let mut statements = Statements::new(self.generator, Role::Operation);
        if let Some(body) = &routine.body {
            statements.declarations(&body.declarations);
            let guards = self.guards(&body.block);
            let mut alternatives = facts.alternatives.iter();
            for statement in &body.block.statements {
                let StatementKind::Guard(arm) = &statement.kind else {
                    if guards == 0 || matches!(statement.kind, StatementKind::Declare(_)) {
                        statements.statement(statement);
                    }
                    continue;
                };
                if alternatives.next().is_none_or(|one| one.effect != effect) {
                    continue;
                }
                let condition = statements.code.flat(&arm.condition);
                statements.code.out.open(&format!("if ({condition}) {{"));
                statements.reset_out(&facts.parameters);
                statements.block(&arm.body);
                statements.end();
                statements.code.out.close("}");
            }
            if guards > 0 {
                statements.code.out.line("result = false;");
            }
        }
        let word = word(effect);
        format!(
            "\nstatic bool {name}_{word}({object}_state *self, {name}_frame *frame) {{\n\
             \x20   bool result = true;\n    (void)self, (void)frame;\n{}}}\n",
            statements.body(Types::BOOLEAN)
        )
    }

    fn guards(&self, block: &Block) -> usize {
        let guard = |kind: &StatementKind| matches!(kind, StatementKind::Guard(_));
        block.statements.iter().filter(|statement| guard(&statement.kind)).count()
    }

    /// Executes what was shipped: reads the arguments, and writes the result.
    fn shipped(&self) -> String {
        let Operation { object, name, generator, .. } = self;
        let (mut before, mut results, mut after) = (String::new(), String::new(), String::new());
        for parameter in self.parameters() {
            let (of, variable) = (self.type_of(*parameter), generator.variable_name(*parameter));
            let mode = generator.mode(*parameter);
            let array = self.is_array(*parameter);
            let get = if mode == Mode::In && array { "lend" } else { "get" };
            before += &format!("    {of} {variable};\n");
            before += &match mode {
                Mode::Out => format!("    memset(&{variable}, 0, sizeof {variable});\n"),
                _ => format!("    good = {of}_{get}(&reader, &{variable}) && good;\n"),
            };
            let target =
                if self.is_by_value(*parameter) { variable.clone() } else { address(&variable) };
            before += &format!("    frame.{variable} = {target};\n");
            if mode != Mode::In {
                results += &format!("        {of}_put(&writer, &{variable});\n");
            }
            let free = if mode == Mode::In && array { "lent" } else { "free" };
            after += &format!("    {of}_{free}(&{variable});\n");
        }
        let result = generator.facts.routine(self.id).result;
        if result != Types::NOTHING {
            let of = generator.type_name(result);
            results += &format!("        {of}_put(&writer, &frame.result);\n");
            after += &format!("    {of}_free(&frame.result);\n");
        }
        format!(
            "\nstatic weft_outcome {name}_shipped(bool (*code)({object}_state *, {name}_frame *), \
             {object}_state *self, const void *arguments, size_t length, weft_result *result) {{\n\
             \x20   orca_reader reader = {{arguments, length, false}};\n    bool good = true;\n\
             \x20   {name}_frame frame;\n    memset(&frame, 0, sizeof frame);\n{before}\
             \x20   weft_outcome outcome = WEFT_OUTCOME_MALFORMED;\n    if (good && reader.left == 0)\n\
             \x20       outcome = code(self, &frame) ? WEFT_OUTCOME_DONE : WEFT_OUTCOME_BLOCKED;\n\
             \x20   if (outcome == WEFT_OUTCOME_DONE) {{\n        orca_writer writer = {{0}};\n{results}\
             \x20       orca_finish(&writer, result);\n    }}\n{after}    return outcome;\n}}\n"
        )
    }

    fn is_array(&self, parameter: VariableId) -> bool {
        use crate::check::Type;
        let of = self.generator.facts.variable(parameter).of;
        matches!(self.generator.facts.types.get(of), Type::Array { .. } | Type::Text)
    }

    /// The functions that Weft calls, on an instance here and with what was shipped.
    fn adapters(&self, effect: Effect) -> String {
        let Operation { object, name, .. } = self;
        let word = word(effect);
        let constant = if effect == Effect::Read { "const " } else { "" };
        format!(
            "\nstatic weft_outcome {name}_{word}_code({constant}void *instance, const void *arguments, \
             size_t length, weft_result *result) {{\n\
             \x20   return {name}_shipped({name}_{word}, ({object}_state *)instance, arguments, length, result);\n}}\n\
             \nstatic bool {name}_{word}_here({constant}void *instance, void *frame) {{\n\
             \x20   return {name}_{word}(({object}_state *)instance, frame);\n}}\n"
        )
    }

    /// Code that programs call: the decision process of fig. 7.4.
    fn called(&self) -> String {
        let Operation { name, generator, number, .. } = self;
        let facts = generator.facts.routine(self.id);
        let mut before = String::new();
        for parameter in self.parameters() {
            let variable = generator.variable_name(*parameter);
            before += &format!("    frame.{variable} = {variable};\n");
        }
        let returns = match facts.result {
            Types::NOTHING => "return;",
            _ => "return frame.result;",
        };
        let mut tried = Vec::new();
        let mut here = String::new();
        for (there, effect) in [(facts.reads(), Effect::Read), (facts.writes(), Effect::Write)] {
            if there {
                let word = word(effect);
                tried.push(format!("{name}_{word}(&object->state, &frame)"));
                here += &format!(
                    "    orca_check(weft_object_{word}_here(object->shared, {number}, {name}_{word}_here, \
                     &frame, &done), where);\n    if (done)\n        {returns}\n"
                );
            }
        }
        let (arguments, results) = (self.arguments(), self.results());
        let (heading, word) = (generator.heading(self.id), quoted(&facts.name));
        format!(
            "\nstatic {heading} {{\n    {name}_frame frame;\n    memset(&frame, 0, sizeof frame);\n{before}\
             \x20   if (object->shared == NULL) {{\n        if (!({}))\n            orca_alone(where, {word});\n\
             \x20       {returns}\n    }}\n    bool done = false;\n{here}    orca_writer writer = {{0}};\n{arguments}\
             \x20   weft_answer *answer;\n    orca_reader reader = orca_invoke(object->shared, {number}, &writer, \
             &answer, where);\n    bool good = true;\n{results}\
             \x20   if (!good || reader.left > 0)\n        orca_fail(where, \"the result of `%s` cannot be read: \
             the ranks run different programs\", {word});\n    weft_answer_free(answer);\n    {returns}\n}}\n",
            tried.join(" || ")
        )
    }

    fn arguments(&self) -> String {
        let mut text = String::new();
        for parameter in self.parameters() {
            if self.generator.mode(*parameter) == Mode::Out {
                continue;
            }
            let (of, variable) =
                (self.type_of(*parameter), self.generator.variable_name(*parameter));
            let pointer = if self.is_by_value(*parameter) { address(&variable) } else { variable };
            text += &format!("    {of}_put(&writer, {pointer});\n");
        }
        text
    }

    fn results(&self) -> String {
        let mut text = String::new();
        for parameter in self.parameters() {
            if self.generator.mode(*parameter) == Mode::In {
                continue;
            }
            let (of, variable) =
                (self.type_of(*parameter), self.generator.variable_name(*parameter));
            text += &format!(
                "    {of}_free({variable});\n    good = {of}_get(&reader, {variable}) && good;\n"
            );
        }
        let result = self.generator.facts.routine(self.id).result;
        if result != Types::NOTHING {
            let of = self.generator.type_name(result);
            text += &format!("    good = {of}_get(&reader, &frame.result) && good;\n");
        }
        text
    }
}
