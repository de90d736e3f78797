//! TLS connections of the real driver, with rustls's own server side as the peer.

mod early;
mod ending;
mod hostile;
mod peer;
mod pen;
mod pieces;

/// Numbers that look random and are the same every time (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }
}

#[test]
fn no_script_breaks_a_client() {
    for seed in 0..300 {
        let mut random = Random(seed);
        let length = random.next() % 400;
        let bytes: Vec<u8> = (0..length).map(|_| random.next() as u8).collect();
        let told = std::panic::catch_unwind(|| hostile::run(&bytes));
        assert!(told.is_ok(), "seed {seed}");
    }
}
