//! Programs of the interpreter whose operators are functions of ours.
//!
//! minijinja parses and executes templates. Its own operators differ from ours in three ways: they
//! order values of different types silently, compute decimals in binary, and print lists without a
//! bound. So each operator in the instructions of a text is replaced by a call of a function with
//! the operator's name ([`crate::operators`]). A template cannot call these functions itself,
//! because their names are not identifiers. After each instruction that makes a list or a map, a
//! call checks its size and depth ([`crate::growth`]).
//!
//! Instructions borrow names from their text, and the interpreter requires that the text lives as
//! long as its environment. So that a [`Program`] is made once and not for each rendering, its text
//! is kept until the process ends ([`keep`]).

use crate::growth::{HELD, KEPT};
use crate::operators::TRUTH;
use minijinja::machinery::{self, CompiledTemplate, Instruction, Instructions, TemplateConfig};
use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, Error, ErrorKind, Output, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

/// The name of every program for the interpreter, which no text can use.
const NAME: &str = " program ";

/// The texts of all programs of the process.
static TEXTS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// The kind of text that is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Template,
    /// A condition: variables may lack a value, and a text such as `false` is not a truth.
    Condition,
}

/// A compiled text.
pub(crate) struct Program {
    instructions: Instructions<'static>,
    blocks: BTreeMap<&'static str, Instructions<'static>>,
}

impl Program {
    /// Compiles a text. If the text is valid, it stays in memory until the process ends.
    ///
    /// # Errors
    /// The mistake, with its line. A chain of comparisons, such as `1 < a < 3`, is one: its
    /// instruction has no place for a call.
    pub(crate) fn compile(text: &str, kind: Kind) -> Result<Self, Error> {
        check(&compiled(text)?)?;
        let compiled = compiled(keep(text))?;
        let blocks = compiled.blocks.iter();
        Ok(Self {
            instructions: lowered(&compiled.instructions, kind),
            blocks: blocks
                .map(|(name, block)| (*name, lowered(block, kind)))
                .collect(),
        })
    }

    /// Executes the program and writes its text to `out`.
    ///
    /// # Errors
    /// The first error of an expression, with its line.
    pub(crate) fn execute(
        &self,
        environment: &Environment<'_>,
        root: Value,
        out: &mut Output<'_>,
    ) -> Result<(), Error> {
        let (instructions, blocks) = (&self.instructions, &self.blocks);
        machinery::eval(environment, instructions, root, blocks, out, escaping()).map(drop)
    }
}

/// The text that a block captured was escaped when it was written, and must not be again.
pub(crate) fn escaping() -> AutoEscape {
    AutoEscape::Custom("json".into())
}

/// The text with the lifetime of the process. Equal texts are kept once, so that a process that
/// compiles the same plan repeatedly does not grow. A process that compiles different plans grows
/// by the texts that they compute: in plans, a few kilobytes.
fn keep(text: &str) -> &'static str {
    // A panic leaves the set whole.
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(kept) = texts.get(text).copied() {
        return kept;
    }
    let kept: &'static str = Box::leak(Box::from(text));
    texts.insert(kept);
    kept
}

/// The instructions of a text as minijinja compiles it.
fn compiled(text: &str) -> Result<CompiledTemplate<'_>, Error> {
    let config = TemplateConfig {
        syntax_config: SyntaxConfig::default(),
        default_auto_escape: Arc::new(|_: &str| escaping()),
    };
    CompiledTemplate::new(NAME, text, &config)
}

/// Refuses a chain of comparisons.
fn check(compiled: &CompiledTemplate<'_>) -> Result<(), Error> {
    let all = std::iter::once(&compiled.instructions).chain(compiled.blocks.values());
    for instructions in all {
        let mut places = (0..).map_while(|at| Some((at, instructions.get(at)?)));
        let chain = places.find(|(_, one)| matches!(one, Instruction::CompareAndPreserve(_)));
        if let Some((at, _)) = chain {
            let line = instructions.get_line(at).filter(|line| *line > 1);
            let line = line.map_or_else(String::new, |line| {
                format!(" (line {line} of the template)")
            });
            let message = format!("write `1 < a and a < 3` instead of `1 < a < 3`{line}");
            return Err(Error::new(ErrorKind::SyntaxError, message));
        }
    }
    Ok(())
}

/// The maximum number of instructions that replace one.
const REPLACEMENTS: usize = 4;

/// The instructions that replace one.
type Replacement<'s> = [Option<Instruction<'s>>; REPLACEMENTS];

/// The instructions with calls instead of operators.
fn lowered<'s>(source: &Instructions<'s>, kind: Kind) -> Instructions<'s> {
    let count = (0..).take_while(|at| source.get(*at).is_some()).count();
    let mut made = Instructions::new(source.name(), source.source());
    // The new place of each instruction, and of the end.
    let mut places = Vec::with_capacity(count + 1);
    let mut next = 0;
    for at in 0..count as u32 {
        places.push(next);
        let Some(instruction) = source.get(at) else {
            break;
        };
        let line = source
            .get_line(at)
            .and_then(|line| u16::try_from(line).ok());
        for new in replaced(instruction, kind).into_iter().flatten() {
            next = 1 + match line {
                Some(line) => made.add_with_line(new, line),
                None => made.add(new),
            };
        }
    }
    places.push(next);
    for at in 0..next {
        if let Some(target) = made.get_mut(at).and_then(target) {
            let place = places.get(*target as usize);
            *target = place.copied().unwrap_or(*target);
        }
    }
    made
}

/// The place that an instruction refers to.
const fn target<'a>(instruction: &'a mut Instruction<'_>) -> Option<&'a mut u32> {
    match instruction {
        Instruction::Iterate(target)
        | Instruction::Jump(target)
        | Instruction::JumpIfFalse(target)
        | Instruction::JumpIfFalseOrPop(target)
        | Instruction::JumpIfTrueOrPop(target)
        | Instruction::BuildMacro(_, target, _) => Some(target),
        _ => None,
    }
}

/// The instructions that replace one.
fn replaced<'s>(instruction: &Instruction<'s>, kind: Kind) -> Replacement<'s> {
    let is_condition = kind == Kind::Condition;
    let same = || instruction.clone();
    match instruction {
        Instruction::SetAttr(_) => {
            // The value lies below the object.
            [
                Some(Instruction::Swap),
                call(KEPT, 1),
                Some(Instruction::Swap),
                Some(same()),
            ]
        }
        Instruction::Not
        | Instruction::JumpIfFalse(_)
        | Instruction::JumpIfFalseOrPop(_)
        | Instruction::JumpIfTrueOrPop(_)
            if is_condition =>
        {
            [call(TRUTH, 1), Some(same()), None, None]
        }
        Instruction::BuildList(_)
        | Instruction::BuildTuple(_)
        | Instruction::BuildMap(_)
        | Instruction::Slice
        | Instruction::EndCapture
        | Instruction::ApplyFilter(..)
        | Instruction::CallFunction(..)
        | Instruction::CallMethod(..)
        | Instruction::CallObject(_) => [Some(same()), call(HELD, 1), None, None],
        _ => match operator(instruction) {
            Some((name, operands)) => [call(name, operands), None, None, None],
            None => [Some(same()), None, None, None],
        },
    }
}

const fn call<'s>(name: &'s str, arguments: u16) -> Option<Instruction<'s>> {
    Some(Instruction::CallFunction(name, Some(arguments)))
}

/// The name of an operator and the number of its operands.
const fn operator(instruction: &Instruction<'_>) -> Option<(&'static str, u16)> {
    Some(match instruction {
        Instruction::Add => ("+", 2),
        Instruction::Sub => ("-", 2),
        Instruction::Mul => ("*", 2),
        Instruction::Div => ("/", 2),
        Instruction::IntDiv => ("//", 2),
        Instruction::Rem => ("%", 2),
        Instruction::Pow => ("**", 2),
        Instruction::StringConcat => ("~", 2),
        Instruction::Eq => ("==", 2),
        Instruction::Ne => ("!=", 2),
        Instruction::Lt => ("<", 2),
        Instruction::Lte => ("<=", 2),
        Instruction::Gt => (">", 2),
        Instruction::Gte => (">=", 2),
        Instruction::In => (" in ", 2),
        Instruction::Neg => (" - ", 1),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{Kind, Program, TEXTS, keep};

    #[test]
    fn a_valid_text_is_kept_once_and_an_invalid_one_never() {
        let (valid, invalid) = ("{{ 'kept' + 1 }}", "{{ 'kept' + }}");
        for _ in 0..2 {
            assert!(Program::compile(valid, Kind::Template).is_ok());
            assert!(Program::compile(invalid, Kind::Template).is_err());
        }
        let equal = valid.to_owned();
        assert!(std::ptr::eq(keep(valid), keep(&equal)));
        let texts = TEXTS.lock().unwrap();
        assert_eq!(
            (texts.contains(valid), texts.contains(invalid)),
            (true, false)
        );
    }
}
