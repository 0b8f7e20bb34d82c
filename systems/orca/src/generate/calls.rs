//! Calls of functions and operations, and forks.

use super::code::Code;
use super::statements::Statements;
use super::values::{Value, address};
use crate::check::{Entity, RoutineId, Types, VariableId};
use crate::source::Span;
use crate::tree::{Expression, Mode};

impl Code<'_, '_> {
    pub fn call(
        &mut self,
        expression: &Expression,
        callee: &Expression,
        arguments: &[Expression],
    ) -> Value {
        match self.generator.facts.meanings.get(&callee.id) {
            Some(Entity::Builtin(builtin)) => self.builtin(*builtin, expression, arguments),
            Some(Entity::Routine(id)) => {
                let (before, arguments) = self.arguments(*id, arguments);
                let call =
                    format!("{}({})", self.generator.routine_name(*id), arguments.join(", "));
                self.returned(*id, before, call)
            }
            _ => Value::Flat("0".into()),
        }
    }

    /// A call of an operation.
    pub fn operation(
        &mut self,
        expression: &Expression,
        object: &Expression,
        arguments: &[Expression],
    ) -> Value {
        let Some(Entity::Routine(id)) = self.generator.facts.meanings.get(&expression.id) else {
            return Value::Flat("0".into());
        };
        let object = self.pointer(object);
        let (before, arguments) = self.arguments(*id, arguments);
        let all = [vec![object], arguments, vec![self.generator.place(expression.span)]].concat();
        let call = format!("{}({})", self.generator.routine_name(*id), all.join(", "));
        self.returned(*id, before, call)
    }

    fn returned(&self, id: RoutineId, before: String, call: String) -> Value {
        let result = self.generator.facts.routine(id).result;
        let call = match (before.is_empty(), result) {
            (true, _) => call,
            (false, Types::NOTHING) => format!("{before}{call}"),
            (false, _) => format!("({before}{call})"),
        };
        match result == Types::NOTHING || self.generator.is_flat(result) {
            true => Value::Flat(call),
            false => Value::Fresh(call),
        }
    }

    /// Arguments as C has them, and what is evaluated before.
    fn arguments(&mut self, id: RoutineId, arguments: &[Expression]) -> (String, Vec<String>) {
        let parameters = self.generator.facts.routine(id).parameters.clone();
        let pairs: Vec<(VariableId, &Expression)> = parameters.into_iter().zip(arguments).collect();
        let changed: Vec<(VariableId, &Expression)> =
            pairs.iter().copied().filter(|(parameter, _)| self.is_changed(*parameter)).collect();
        self.check_overlaps(&changed);
        let calls = arguments.iter().filter(|argument| self.generator.calls(argument)).count();
        let in_turn = calls > 0 && arguments.len() > 1;
        let mut before = String::new();
        let mut all = Vec::new();
        for (parameter, argument) in &pairs {
            let of = self.generator.facts.variable(*parameter).of;
            let root = self.generator.root(argument);
            let by_value = self.generator.mode(*parameter) == Mode::In;
            let overlaps = changed
                .iter()
                .any(|(_, other)| root.is_some() && self.generator.root(other) == root);
            let text = if by_value && self.generator.is_flat(of) {
                let text = self.flat(argument);
                match in_turn {
                    true => {
                        let slot = self.slot(of);
                        before += &format!("{slot} = {text}, ");
                        slot
                    }
                    false => text,
                }
            } else if by_value && overlaps {
                // A copy, since the routine changes what the argument is a part of.
                let owned = self.owned(argument);
                address(&self.put(of, Value::Fresh(owned)))
            } else {
                self.pointer(argument)
            };
            all.push(text);
        }
        (before, all)
    }

    fn is_changed(&self, parameter: VariableId) -> bool {
        matches!(self.generator.mode(parameter), Mode::Out | Mode::InOut)
    }

    /// Refuses a variable that is handed over whole and in parts at once, to be changed.
    fn check_overlaps(&self, changed: &[(VariableId, &Expression)]) {
        for (place, (_, one)) in changed.iter().enumerate() {
            for (_, other) in &changed[..place] {
                let same = self.generator.root(one) == self.generator.root(other);
                let parts = |argument: &Expression| crate::tree::walk::parts(argument).is_empty();
                if same && (parts(one) != parts(other)) {
                    self.generator.refuse(
                        one.span,
                        "a variable that is changed as a whole and in parts at once",
                    );
                }
            }
        }
    }
}

impl Statements<'_, '_> {
    /// Starts a process.
    pub fn fork(
        &mut self,
        process: &Expression,
        arguments: &[Expression],
        on: Option<&Expression>,
        span: Span,
    ) {
        let Some(Entity::Routine(id)) = self.code.generator.facts.meanings.get(&process.id) else {
            return;
        };
        let parameters = self.code.generator.facts.routine(*id).parameters.clone();
        let place = self.code.generator.place(span);
        self.code.out.open("{");
        self.code.out.line("orca_writer writer = {0};");
        for (parameter, argument) in parameters.into_iter().zip(arguments) {
            let of =
                self.code.generator.type_name(self.code.generator.facts.variable(parameter).of);
            let pointer = self.code.pointer(argument);
            self.code.out.line(&format!("{of}_put(&writer, {pointer});"));
        }
        let processor = match on {
            Some(on) => format!("orca_processor({}, {place})", self.code.flat(on)),
            None => "orca_rank".to_owned(),
        };
        let name = super::names::quoted(&self.code.generator.process_name(*id));
        self.code.out.line(&format!("orca_fork({name}, {processor}, &writer, {place});"));
        self.code.out.close("}");
    }
}
