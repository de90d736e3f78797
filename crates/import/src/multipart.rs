//! Bodies of several parts (RFC 7578), as browsers write them.

/// What stands between the parts, unless one of them has it.
const BOUNDARY: &str = "----drumfire0boundary";

/// A part that is a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) value: String,
    /// Its media type, where it has one.
    pub(crate) media_type: Option<String>,
}

/// A body, and the type that names its boundary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Multipart {
    pub(crate) body: String,
    pub(crate) media_type: String,
}

/// The body that has these parts.
pub(crate) fn multipart(parts: &[Part]) -> Multipart {
    let mut boundary = BOUNDARY.to_owned();
    while parts.iter().any(|part| part.value.contains(&boundary)) {
        boundary.push('0');
    }
    let mut body = String::new();
    for part in parts {
        let name = escaped(&part.name);
        body.extend(["--", &boundary, "\r\n"]);
        body.extend(["Content-Disposition: form-data; name=\"", &name, "\"\r\n"]);
        if let Some(media_type) = &part.media_type {
            body.extend(["Content-Type: ", media_type, "\r\n"]);
        }
        body.extend(["\r\n", &part.value, "\r\n"]);
    }
    body.extend(["--", &boundary, "--\r\n"]);
    Multipart {
        body,
        media_type: format!("multipart/form-data; boundary={boundary}"),
    }
}

/// A name between quotes, as HTML's standard has it.
fn escaped(name: &str) -> String {
    let name = name.replace('"', "%22").replace('\r', "%0D");
    name.replace('\n', "%0A")
}

#[cfg(test)]
mod tests {
    use super::{Part, multipart};

    #[test]
    fn parts_stand_between_boundaries_that_none_of_them_has() {
        let part = |name: &str, value: &str, media_type: Option<&str>| Part {
            name: name.to_owned(),
            value: value.to_owned(),
            media_type: media_type.map(str::to_owned),
        };
        let parts = [
            part("a\"b", "1", None),
            part("c", "------drumfire0boundary", Some("text/plain")),
        ];
        let made = multipart(&parts);
        assert_eq!(
            made.media_type,
            "multipart/form-data; boundary=----drumfire0boundary0"
        );
        assert_eq!(
            made.body,
            "------drumfire0boundary0\r\nContent-Disposition: form-data; name=\"a%22b\"\r\n\r\n1\r\n\
             ------drumfire0boundary0\r\nContent-Disposition: form-data; name=\"c\"\r\n\
             Content-Type: text/plain\r\n\r\n------drumfire0boundary\r\n\
             ------drumfire0boundary0--\r\n"
        );
    }
}
