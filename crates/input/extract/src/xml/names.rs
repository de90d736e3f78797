//! Names of elements that are also operators of XPath, such as `div`.

/// The operators that are names (XPath 1.0, section 3.7).
const OPERATORS: [&str; 4] = ["and", "div", "mod", "or"];

/// Rewrites an expression so that no element or attribute has the name of an operator: the library
/// treats each of these names as an operator, at any position. In XPath, a name is an operator only
/// after an operand (XPath 1.0, section 3.7).
pub(super) fn unambiguous(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut is_behind_operand = false;
    while let Some(c) = rest.chars().next() {
        let length = length(rest, c);
        let (token, behind) = rest.split_at(length);
        let is_operator = OPERATORS.contains(&token);
        match is_operator && !is_behind_operand && !behind.starts_with("::") {
            true => out.push_str(&format!("*[local-name()='{token}']")),
            false => out.push_str(token),
        }
        is_behind_operand = match c {
            c if c.is_whitespace() => is_behind_operand,
            // After an operand, `*` multiplies.
            '*' => !is_behind_operand,
            ')' | ']' | '\'' | '"' => true,
            c if is_name(c) => {
                let is_used = is_operator && is_behind_operand;
                let is_axis = behind.starts_with("::");
                !is_used && !is_axis
            }
            _ => false,
        };
        rest = behind;
    }
    out
}

/// The length of the token at the start of a text.
fn length(text: &str, first: char) -> usize {
    match first {
        '\'' | '"' => text[1..].find(first).map_or(text.len(), |at| at + 2),
        c if is_name(c) => text.find(|c| !is_name(c)).unwrap_or(text.len()),
        c => c.len_utf8(),
    }
}

/// Whether a character may occur in names and numbers.
fn is_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}

#[cfg(test)]
mod tests {
    use super::unambiguous;

    #[test]
    fn operators_in_the_place_of_a_name_are_names() {
        for (text, wanted) in [
            ("//div", "//*[local-name()='div']"),
            (
                "//div[@class='a'][2]/span",
                "//*[local-name()='div'][@class='a'][2]/span",
            ),
            (
                "/html/body//div/@or",
                "/html/body//*[local-name()='div']/@*[local-name()='or']",
            ),
            (
                "//a[@x or @y and 4 div 2 = 2]",
                "//a[@x or @y and 4 div 2 = 2]",
            ),
            (
                "div div mod",
                "*[local-name()='div'] div *[local-name()='mod']",
            ),
            ("child::div | //p", "child::*[local-name()='div'] | //p"),
            ("//divider/div-1", "//divider/div-1"),
            ("//a[.='div'] * 2", "//a[.='div'] * 2"),
            ("count(//div) mod 2", "count(//*[local-name()='div']) mod 2"),
            ("//*/div", "//*/*[local-name()='div']"),
            ("2 * div", "2 * *[local-name()='div']"),
            (". or ..", ". or .."),
        ] {
            assert_eq!(unambiguous(text), wanted, "{text}");
        }
    }
}
