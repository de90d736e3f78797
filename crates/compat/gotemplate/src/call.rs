//! The context of a function call: access to the outside world, and the limits of an execution.

use crate::env::Env;
use crate::fault::Fault;
use crate::sink::Sink;
use crate::value::Value;

/// The limits of one execution. Exceeding a limit is an error of the template.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The maximum length of the output.
    pub output_bytes: usize,
    /// The maximum total bytes of all intermediate values; freed values count as well.
    pub value_bytes: usize,
    /// The maximum number of steps: actions, calls, loop iterations, and the work of functions.
    pub steps: u64,
}

/// The maximum output of one execution, in bytes.
pub const OUTPUT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The maximum bytes of all values that one execution creates.
pub const VALUE_BYTES_MAX: usize = 256 * 1024 * 1024;

/// The maximum number of steps of one execution: at tens of nanoseconds each, well under a second.
pub const STEPS_MAX: u64 = 5_000_000;

impl Default for Limits {
    fn default() -> Self {
        Self {
            output_bytes: OUTPUT_BYTES_MAX,
            value_bytes: VALUE_BYTES_MAX,
            steps: STEPS_MAX,
        }
    }
}

/// The remaining budget of an execution.
#[derive(Debug)]
pub(crate) struct Budget {
    steps: u64,
    value_bytes: usize,
}

impl Budget {
    pub(crate) const fn new(limits: &Limits) -> Self {
        Self {
            steps: limits.steps,
            value_bytes: limits.value_bytes,
        }
    }

    /// Subtracts `count` steps.
    #[inline]
    pub(crate) fn step(&mut self, count: u64) -> Result<(), Fault> {
        match self.steps.checked_sub(count) {
            Some(left) => {
                self.steps = left;
                Ok(())
            }
            None => Err("the template takes too many steps".into()),
        }
    }

    fn allocate(&mut self, bytes: usize) -> Result<(), Fault> {
        match self.value_bytes.checked_sub(bytes) {
            Some(left) => {
                self.value_bytes = left;
                Ok(())
            }
            None => Err("the template creates too many values".into()),
        }
    }
}

/// The context of a function call, without the arguments.
pub struct Call<'a> {
    /// Time, randomness and other access to the outside world.
    pub env: &'a mut dyn Env,
    pub(crate) budget: &'a mut Budget,
}

impl Call<'_> {
    /// Counts work that grows with the arguments: one step for each item or for 16 bytes.
    ///
    /// # Errors
    /// If the template has used all of its steps.
    pub fn work(&mut self, count: usize) -> Result<(), Fault> {
        self.budget.step(count as u64)
    }

    /// Counts `count` values before they are created.
    ///
    /// # Errors
    /// If the template has created too many values.
    pub fn values(&mut self, count: usize) -> Result<(), Fault> {
        self.budget.step(count as u64)?;
        self.budget
            .allocate(count.saturating_mul(size_of::<Value>()))
    }

    /// Counts bytes before they are created.
    ///
    /// # Errors
    /// If the template has created too many bytes.
    pub fn bytes(&mut self, count: usize) -> Result<(), Fault> {
        self.budget.step(count as u64 / 16)?;
        self.budget.allocate(count)
    }

    /// A uniform random number below `end`; 0 if `end` is 0.
    ///
    /// The number is the upper half of a 128-bit product. The few lower halves that would favour
    /// some numbers are rejected.
    #[must_use]
    pub fn random_below(&mut self, end: u64) -> u64 {
        let refused = end.wrapping_neg().checked_rem(end).unwrap_or(0);
        // A source that always returns rejected bits must not block forever.
        for _ in 0..64 {
            let product = u128::from(self.env.random()) * u128::from(end);
            if product as u64 >= refused {
                return (product >> 64) as u64;
            }
        }
        0
    }

    /// A random UUID (RFC 9562 section 5.4).
    ///
    /// # Errors
    /// If the template has created too many values.
    pub fn random_uuid(&mut self) -> Result<Value, Fault> {
        let bits = u128::from(self.env.random()) << 64 | u128::from(self.env.random());
        let mut out = [0; 36];
        self.bytes(out.len())?;
        Ok(Value::from(uuid_text(bits, &mut out)))
    }

    /// Counts a text and returns it as a value.
    ///
    /// # Errors
    /// If the template has created too many bytes.
    pub fn text(&mut self, text: impl Into<String> + AsRef<str>) -> Result<Value, Fault> {
        self.bytes(text.as_ref().len())?;
        Ok(Value::Str(text.as_ref().into()))
    }

    /// A text that `write` appends piece by piece, limited and counted.
    pub(crate) fn write(
        &mut self,
        write: impl FnOnce(&mut Sink<'_>) -> Result<(), Fault>,
    ) -> Result<Value, Fault> {
        let mut out = String::new();
        let limit = self.budget.value_bytes.min(OUTPUT_BYTES_MAX);
        write(&mut Sink::new(&mut out, limit))?;
        self.bytes(out.len())?;
        Ok(Value::from(out))
    }
}

/// Writes random bits as a version 4 UUID.
fn uuid_text(bits: u128, out: &mut [u8; 36]) -> &str {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let bits = bits & !(0xF << 76) & !(0x3 << 62) | 0x4 << 76 | 0x2 << 62;
    let mut at = 0;
    for n in 0..32 {
        if matches!(n, 8 | 12 | 16 | 20) {
            out[at] = b'-';
            at += 1;
        }
        out[at] = HEX[(bits >> (124 - 4 * n)) as usize & 15];
        at += 1;
    }
    // Only ASCII was written.
    std::str::from_utf8(out).unwrap_or_default()
}
