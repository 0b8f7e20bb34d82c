//! Statements.

use super::Generator;
use super::code::{Code, Role};
use super::values::{Value, address};
use crate::check::{Builtin, Entity, Type, TypeId};
use crate::tree::{
    Alternative, AssignOperator, BinaryOperator, Block, Declaration, DeclarationKind, Expression,
    ExpressionKind, Name, Statement, StatementKind,
};

/// The statements of a function, with its ways out.
pub struct Statements<'g, 'p> {
    pub code: Code<'g, 'p>,
    /// Labels behind the loops around this place, and whether one is used.
    exits: Vec<(String, bool)>,
    /// True if something jumps to the end.
    ends: bool,
}

impl<'g, 'p> Statements<'g, 'p> {
    /// None yet.
    pub fn new(generator: &'g Generator<'p>, role: Role) -> Self {
        Statements { code: Code::new(generator, role), exits: Vec::new(), ends: false }
    }

    /// The body of the function, with a result of this type, which the variable `result` has.
    pub fn body(self, result: TypeId) -> String {
        self.code.body(result, self.ends)
    }
}

impl Statements<'_, '_> {
    /// Enters a loop; lines of its body follow.
    pub fn enter_loop(&mut self) {
        let label = format!("exit{}", self.code.out.number());
        self.exits.push((label, false));
    }

    /// Leaves the loop whose last line was appended.
    pub fn leave_loop(&mut self) {
        if let Some((label, true)) = self.exits.pop() {
            self.code.out.line(&format!("{label}:;"));
        }
    }

    /// Jumps behind the innermost loop.
    fn exit(&mut self) {
        if let Some((label, used)) = self.exits.last_mut() {
            *used = true;
            let line = format!("goto {label};");
            self.code.out.line(&line);
        }
    }

    /// Jumps to the end of the function.
    pub fn end(&mut self) {
        self.ends = true;
        self.code.out.line("goto end;");
    }

    pub fn block(&mut self, block: &Block) {
        for statement in &block.statements {
            self.statement(statement);
        }
    }

    /// Variables before `begin`.
    pub fn declarations(&mut self, declarations: &[Declaration]) {
        for declaration in declarations {
            if let DeclarationKind::Variable(variable) = &declaration.kind {
                self.declare_all(&variable.names);
            }
        }
    }

    fn declare_all(&mut self, names: &[Name]) {
        for name in names {
            if let Some(Entity::Variable(id)) = self.code.generator.facts.declared.get(&name.span) {
                self.declare(*id);
            }
        }
    }

    pub fn statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::Assign { target, operator, value } => {
                self.assign(target, *operator, value);
            }
            StatementKind::Call(called) => self.called(called),
            StatementKind::If { arms, otherwise } => {
                for arm in arms {
                    let condition = self.code.flat(&arm.condition);
                    self.code.out.open(&format!("if ({condition}) {{"));
                    self.block(&arm.body);
                    self.code.out.close("} else {");
                    self.code.out.open_only();
                }
                if let Some(otherwise) = otherwise {
                    self.block(otherwise);
                }
                for _ in arms {
                    self.code.out.close("}");
                }
            }
            StatementKind::While { arm } => {
                self.enter_loop();
                self.code.out.open("for (;;) {");
                let condition = self.code.flat(&arm.condition);
                self.code.out.line(&format!("if (!({condition}))"));
                self.code.out.line("    break;");
                self.block(&arm.body);
                self.code.out.close("}");
                self.leave_loop();
            }
            StatementKind::Repeat { body, until } => {
                self.enter_loop();
                self.code.out.open("for (;;) {");
                self.block(body);
                let until = self.code.flat(until);
                self.code.out.line(&format!("if ({until})"));
                self.code.out.line("    break;");
                self.code.out.close("}");
                self.leave_loop();
            }
            StatementKind::Loop(body) => {
                self.enter_loop();
                self.code.out.open("for (;;) {");
                self.block(body);
                self.code.out.close("}");
                self.leave_loop();
            }
            StatementKind::For { variable, range, body } => self.counted(variable, range, body),
            StatementKind::Case { subject, alternatives, otherwise } => {
                self.case(subject, alternatives, otherwise.as_ref());
            }
            StatementKind::Exit => self.exit(),
            StatementKind::Return(value) => self.return_value(value.as_ref()),
            StatementKind::Fork { process, arguments, on } => {
                self.fork(process, arguments, on.as_ref(), statement.span);
            }
            StatementKind::Declare(variable) => self.declare_all(&variable.names),
            StatementKind::Block(block) => self.block(block),
            StatementKind::Guard(_) | StatementKind::Placeholder | StatementKind::Malformed => {}
        }
    }

    fn assign(&mut self, target: &Expression, operator: AssignOperator, value: &Expression) {
        let of = self.code.of(target);
        let name = self.code.generator.type_name(of);
        if operator == AssignOperator::Set {
            let value = self.assigned(of, value);
            if let Some((union, place)) = self.tag(target) {
                let (Value::Flat(value) | Value::Place(value) | Value::Fresh(value)) = value;
                return self.code.out.line(&format!("{union}_retag({place}, {value});"));
            }
            let place = self.code.lvalue(target);
            let line = match value {
                Value::Place(value) if !self.code.generator.is_flat(of) => {
                    format!("{name}_assign({}, {});", address(&place), address(&value))
                }
                Value::Fresh(value) => format!("{name}_hold({}, {value});", address(&place)),
                Value::Flat(value) | Value::Place(value) => format!("{place} = {value};"),
            };
            return self.code.out.line(&line);
        }
        let operator = match operator {
            AssignOperator::Subtract => BinaryOperator::Subtract,
            AssignOperator::Multiply => BinaryOperator::Multiply,
            _ => BinaryOperator::Add,
        };
        let at = self.code.generator.place(target.span);
        let value = self.assigned(of, value);
        let value = self.put_unless_flat(of, value);
        let place = self.code.lvalue(target);
        let pointer = format!("p{}", self.code.out.number());
        self.code.out.open("{");
        self.code.out.line(&format!("{name} *{pointer} = {};", address(&place)));
        match self.code.operated(operator, of, (&format!("(*{pointer})"), &value), &at) {
            Value::Fresh(text) => self.code.out.line(&format!("{name}_hold({pointer}, {text});")),
            Value::Flat(text) | Value::Place(text) => {
                self.code.out.line(&format!("*{pointer} = {text};"))
            }
        }
        self.code.out.close("}");
    }

    /// A value to be assigned: one that calls something is evaluated before the place is looked up,
    /// which the call may move.
    fn assigned(&mut self, of: TypeId, value: &Expression) -> Value {
        let calls = self.code.generator.calls(value);
        let value = self.code.value(value);
        if !calls {
            return value;
        }
        let (slot, name) = (self.code.slot(of), self.code.generator.type_name(of));
        match value {
            Value::Fresh(text) => {
                self.code.out.line(&format!("{name}_hold(&{slot}, {text});"));
                Value::Fresh(format!("{name}_take(&{slot})"))
            }
            Value::Place(text) if !self.code.generator.is_flat(of) => Value::Place(text),
            Value::Flat(text) | Value::Place(text) => {
                self.code.out.line(&format!("{slot} = {text};"));
                Value::Flat(slot)
            }
        }
    }

    fn put_unless_flat(&mut self, of: TypeId, value: Value) -> String {
        match value {
            Value::Flat(text) => text,
            value => self.code.put(of, value),
        }
    }

    /// The union whose tag this is: its type, and its address.
    fn tag(&mut self, target: &Expression) -> Option<(String, String)> {
        let ExpressionKind::Field { of, field } = &target.bare().kind else { return None };
        let union = self.code.of(of);
        match self.code.generator.facts.types.get(union) {
            Type::Union { tag, .. } if *tag == field.text => {
                Some((self.code.generator.type_name(union), self.code.pointer(of)))
            }
            _ => None,
        }
    }

    /// A call that is a statement.
    fn called(&mut self, called: &Expression) {
        if let ExpressionKind::Call { callee, arguments } = &called.bare().kind
            && let Some(Entity::Builtin(builtin @ (Builtin::Write | Builtin::WriteLine))) =
                self.code.generator.facts.meanings.get(&callee.id)
        {
            return self.written(arguments, *builtin == Builtin::WriteLine);
        }
        let (Value::Flat(text) | Value::Place(text) | Value::Fresh(text)) = self.code.value(called);
        self.code.out.line(&format!("{text};"));
    }

    fn case(
        &mut self,
        subject: &Expression,
        alternatives: &[Alternative],
        otherwise: Option<&Block>,
    ) {
        let (value, at) = (self.code.flat(subject), self.code.generator.place(subject.span));
        let chosen = format!("chosen{}", self.code.out.number());
        self.code.out.open("{");
        self.code.out.line(&format!("const int64_t {chosen} = (int64_t)({value});"));
        for alternative in alternatives {
            let choices: Vec<String> = alternative
                .choices
                .iter()
                .map(|choice| {
                    let first = self.code.flat(&choice.first);
                    match &choice.last {
                        None => format!("{chosen} == (int64_t){first}"),
                        Some(last) => {
                            let last = self.code.flat(last);
                            format!("({chosen} >= (int64_t){first} && {chosen} <= (int64_t){last})")
                        }
                    }
                })
                .collect();
            self.code.out.open(&format!("if ({}) {{", choices.join(" || ")));
            self.block(&alternative.body);
            self.code.out.close("} else {");
            self.code.out.open_only();
        }
        match otherwise {
            Some(otherwise) => self.block(otherwise),
            None => self.code.out.line(&format!(
                "orca_fail({at}, \"no alternative of this `case` is for %lld\", (long long){chosen});"
            )),
        }
        for _ in alternatives {
            self.code.out.close("}");
        }
        self.code.out.close("}");
    }

    fn return_value(&mut self, value: Option<&Expression>) {
        if let Some(value) = value {
            let owned = self.code.owned(value);
            let of = self.code.of(value);
            let result = match self.code.role {
                Role::Operation => "frame->result",
                _ => "result",
            };
            if self.code.generator.is_flat(of) {
                self.code.out.line(&format!("{result} = {owned};"));
            } else {
                let name = self.code.generator.type_name(of);
                self.code.out.line(&format!("{name}_hold(&{result}, {owned});"));
            }
        }
        self.end();
    }
}
