//! Numbers as text.

/// Appends a decimal number; several times as fast as formatting it.
pub(crate) fn push_integer(mut number: u64, out: &mut String) {
    let mut digits = [b'0'; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.push_str(std::str::from_utf8(&digits[at..]).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::push_integer;

    #[test]
    fn integers_are_written_in_full() {
        for number in [0, 7, 10, 999, u64::MAX] {
            let mut out = String::from("x");
            push_integer(number, &mut out);
            assert_eq!(out, format!("x{number}"));
        }
    }
}
