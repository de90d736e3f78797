//! The timing of a replay.

use drumfire_units::Nanos;

const SECOND: u64 = 1_000_000_000;

/// Moments as spans from the first. Logs are written when a request has ended, so that a moment may
/// lie before the one above it: it is then taken as that one. Where all are whole seconds, the
/// requests of a second are spread over it evenly.
pub(super) fn times(moments: &[u64], speed: f64) -> Vec<Nanos> {
    let mut latest = moments.first().copied().unwrap_or(0);
    let mut ascending: Vec<u64> = Vec::with_capacity(moments.len());
    for moment in moments {
        latest = latest.max(*moment);
        ascending.push(latest);
    }
    if ascending.iter().all(|moment| moment % SECOND == 0) {
        for second in ascending.chunk_by_mut(|a, b| a == b) {
            let count = second.len() as u64;
            for (n, moment) in (0..).zip(second) {
                *moment += SECOND * n / count;
            }
        }
    }
    let first = ascending.first().copied().unwrap_or(0);
    let scaled = |moment: &u64| match speed.to_bits() == 1.0_f64.to_bits() {
        true => Nanos(moment - first),
        false => Nanos(((moment - first) as f64 / speed) as u64),
    };
    ascending.iter().map(scaled).collect()
}

#[cfg(test)]
mod tests {
    use super::times;

    #[test]
    fn moments_ascend_from_0_at_a_speed() {
        let shown = |moments: &[u64], speed| -> Vec<u64> {
            times(moments, speed).iter().map(|time| time.0).collect()
        };
        assert_eq!(shown(&[5, 9, 7, 13], 1.0), [0, 4, 4, 8]);
        assert_eq!(shown(&[5, 9, 7, 13], 2.0), [0, 2, 2, 4]);
        assert_eq!(shown(&[5, 9], 0.5), [0, 8]);
        let second = 1_000_000_000;
        assert_eq!(
            shown(
                &[7 * second, 7 * second, 7 * second, 7 * second, 9 * second],
                1.0
            ),
            [0, second / 4, second / 2, 3 * second / 4, 2 * second]
        );
        assert_eq!(shown(&[], 1.0), [0; 0]);
    }
}
