//! A reference of a scenario to a request, with the number of repetitions.

/// `name`, `name(count)`, `name(count, sleep)`.
pub(super) struct Named<'a> {
    pub(super) name: &'a str,
    pub(super) count: u64,
    pub(super) sleep: u64,
}

impl<'a> Named<'a> {
    /// Parses a reference.
    ///
    /// # Errors
    /// In Pandora's words.
    pub(super) fn read(text: &'a str) -> Result<Self, String> {
        let Some((name, rest)) = text.split_once('(') else {
            return match text.contains(')') {
                true => Err(format!("`{text}`: invalid close bracket position")),
                false => Ok(Self {
                    name: text,
                    count: 1,
                    sleep: 0,
                }),
            };
        };
        let inner = rest
            .trim()
            .strip_suffix(')')
            .filter(|inner| !inner.contains(')'));
        let inner = inner.ok_or_else(|| format!("`{text}`: invalid close bracket position"))?;
        let mut numbers = inner.split(',').map(str::trim);
        let mut number = |usual| match numbers.next() {
            None | Some("") => Ok(usual),
            Some(text) => {
                let number = text.parse::<u64>();
                number.map_err(|_| format!("failed to parse count: `{text}`"))
            }
        };
        Ok(Self {
            name: name.trim(),
            count: number(1)?,
            sleep: number(0)?,
        })
    }
}
