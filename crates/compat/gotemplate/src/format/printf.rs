//! `printf`: formats arguments, with Go's output for mistakes.

use super::{Verb, verb};
use crate::call::Call;
use crate::fault::Fault;
use crate::sink::Sink;
use crate::value::{IntKind, Value};

/// The maximum width or precision from an argument. A number in the format may have one digit more.
const NUMBER_MAX: usize = 1_000_000;

/// `Sprintf(format, arguments...)`
pub(crate) fn printf(
    call: &mut Call<'_>,
    format: &str,
    arguments: &[Value],
) -> Result<Value, Fault> {
    call.write(|sink| {
        let mut printer = Printer {
            rest: format,
            arguments,
            next: 0,
            reordered: false,
            any_reordered: false,
            good_index: true,
        };
        printer.run(sink)
    })
}

struct Printer<'a> {
    rest: &'a str,
    arguments: &'a [Value],
    next: usize,
    /// Whether the current verb has an argument index; `any_reordered`: whether any verb had one.
    reordered: bool,
    any_reordered: bool,
    good_index: bool,
}

impl Printer<'_> {
    fn run(&mut self, sink: &mut Sink<'_>) -> Result<(), Fault> {
        while let Some(percent) = self.rest.find('%') {
            sink.text(&self.rest[..percent])?;
            self.rest = &self.rest[percent + 1..];
            self.one(sink)?;
        }
        sink.text(self.rest)?;
        if !self.any_reordered && self.next < self.arguments.len() {
            self.extra(sink)?;
        }
        Ok(())
    }

    fn extra(&self, sink: &mut Sink<'_>) -> Result<(), Fault> {
        sink.text("%!(EXTRA ")?;
        for (n, value) in self.arguments[self.next..].iter().enumerate() {
            if n > 0 {
                sink.text(", ")?;
            }
            if value.is_nil() {
                sink.text("<nil>")?;
                continue;
            }
            sink.text(value.type_name())?;
            sink.text("=")?;
            super::plain(sink, value)?;
        }
        sink.text(")")
    }

    fn one(&mut self, sink: &mut Sink<'_>) -> Result<(), Fault> {
        let mut by = Verb::from_letter('v');
        self.good_index = true;
        self.reordered = false;
        self.flags(&mut by);
        self.index();
        self.width(&mut by, sink)?;
        self.precision(&mut by, sink)?;
        self.index();
        let mut chars = self.rest.chars();
        let Some(letter) = chars.next() else {
            return sink.text("%!(NOVERB)");
        };
        self.rest = chars.as_str();
        by.letter = letter;
        if letter == '%' {
            return sink.text("%");
        }
        if !self.good_index {
            return self.note(sink, letter, "(BADINDEX)");
        }
        let Some(value) = self.arguments.get(self.next) else {
            return self.note(sink, letter, "(MISSING)");
        };
        self.next += 1;
        match letter {
            'T' => super::pad(sink, value.type_name(), &by),
            'w' => super::bad_verb(sink, value, &by),
            'p' => super::bad_verb(sink, value, &by),
            _ => verb(sink, value, &by, 0),
        }
    }

    fn note(&self, sink: &mut Sink<'_>, letter: char, note: &str) -> Result<(), Fault> {
        sink.text("%!")?;
        sink.char(letter)?;
        sink.text(note)
    }

    fn flags(&mut self, by: &mut Verb) {
        loop {
            match self.rest.bytes().next() {
                Some(b'#') => by.sharp = true,
                Some(b'0') => by.zero = true,
                Some(b'+') => by.plus = true,
                Some(b'-') => by.minus = true,
                Some(b' ') => by.space = true,
                _ => return,
            }
            self.rest = &self.rest[1..];
        }
    }

    /// Parses `[3]`, the index of the next argument.
    fn index(&mut self) {
        let Some(inside) = self.rest.strip_prefix('[') else {
            return;
        };
        self.reordered = true;
        self.any_reordered = true;
        let Some((number, rest)) = inside.split_once(']') else {
            self.good_index = false;
            self.rest = inside;
            return;
        };
        self.rest = rest;
        match number.parse::<usize>() {
            Ok(number) if number >= 1 && number <= self.arguments.len() => self.next = number - 1,
            _ => self.good_index = false,
        }
    }

    fn width(&mut self, by: &mut Verb, sink: &mut Sink<'_>) -> Result<(), Fault> {
        if let Some(rest) = self.rest.strip_prefix('*') {
            self.rest = rest;
            match self.star() {
                Some(width) => {
                    by.width = Some(width.unsigned_abs());
                    by.minus |= width < 0;
                }
                None => sink.text("%!(BADWIDTH)")?,
            }
            return Ok(());
        }
        by.width = self.number();
        if by.width.is_some() && self.reordered {
            self.good_index = false;
        }
        Ok(())
    }

    fn precision(&mut self, by: &mut Verb, sink: &mut Sink<'_>) -> Result<(), Fault> {
        let Some(rest) = self.rest.strip_prefix('.') else {
            return Ok(());
        };
        self.rest = rest;
        self.index();
        if let Some(rest) = self.rest.strip_prefix('*') {
            self.rest = rest;
            match self.star() {
                Some(digits) if digits >= 0 => by.precision = Some(digits.unsigned_abs()),
                Some(_) => {}
                None => sink.text("%!(BADPREC)")?,
            }
            return Ok(());
        }
        by.precision = Some(self.number().unwrap_or(0));
        Ok(())
    }

    /// A width or precision from an argument.
    fn star(&mut self) -> Option<isize> {
        let value = self.arguments.get(self.next)?;
        self.next += 1;
        match value {
            Value::Int(
                IntKind::Int | IntKind::Int64 | IntKind::Int32 | IntKind::Uint8 | IntKind::Uint64,
                number,
            )
            | Value::Whole(number)
                if number.unsigned_abs() <= NUMBER_MAX as u64 =>
            {
                isize::try_from(*number).ok()
            }
            _ => None,
        }
    }

    fn number(&mut self) -> Option<usize> {
        let behind = self.rest.trim_start_matches(|c: char| c.is_ascii_digit());
        let digits = &self.rest[..self.rest.len() - behind.len()];
        if digits.is_empty() {
            return None;
        }
        let too_long = digits.get(..digits.len() - 1).is_some_and(|most| {
            !most.is_empty() && most.parse().unwrap_or(usize::MAX) > NUMBER_MAX
        });
        if too_long {
            // Go stops processing the format.
            self.rest = "";
            return None;
        }
        self.rest = behind;
        digits.parse().ok()
    }
}
