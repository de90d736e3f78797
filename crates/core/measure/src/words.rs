//! Shares and quantiles as text, for reasons and thresholds.
//!
//! A share near 0 or 100 % is never rounded to it: 99.997 % of requests is not all of them, and the
//! difference matters to a reader.

use drumfire_units::rounded::digits_to;

/// A share from 0 to 1, such as `97.0 %`.
pub(crate) fn share_text(share: f64) -> String {
    share_text_to(share, 0)
}

/// A share with `more` decimals, to distinguish two close shares.
pub(crate) fn share_text_to(share: f64, more: usize) -> String {
    match share * 100.0 {
        p if p <= 0.0 => "0 %".to_owned(),
        p if more == 0 && p < 0.01 => "<0.01 %".to_owned(),
        100.0 => "100 %".to_owned(),
        p if more == 0 && (99.995..100.0).contains(&p) => ">99.99 %".to_owned(),
        p if (99.95..99.995).contains(&p) => format!("{p:.*} %", 2 + more),
        p => format!("{} %", digits_to(p, more)),
    }
}

/// A quantile's name: 0.999 is `p99.9`.
pub(crate) fn quantile_text(q: f64) -> String {
    // Nine decimals hide the binary remainder of a decimal share.
    let percent = format!("{:.9}", q * 100.0);
    format!("p{}", percent.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_read_as_a_person_writes_them() {
        for (share, text) in [
            (0.0, "0 %"),
            (0.000_01, "<0.01 %"),
            (0.0005, "0.05 %"),
            (0.05, "5.00 %"),
            (0.97, "97.0 %"),
            (0.9999, "99.99 %"),
            (0.999_999, ">99.99 %"),
            (1.0, "100 %"),
            (1.2, "120 %"),
        ] {
            assert_eq!(share_text(share), text);
        }
        assert_eq!(quantile_text(0.999), "p99.9");
        assert_eq!(quantile_text(0.5), "p50");
        assert_eq!(quantile_text(0.07), "p7");
    }
}
