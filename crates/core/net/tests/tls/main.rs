//! TLS connections of the real driver, with rustls's own server side as the peer.

mod early;
mod ending;
mod hostile;
mod peer;
mod pen;
mod pieces;

use drumfire_units::Random;

#[test]
fn no_script_breaks_a_client() {
    for seed in 0..300 {
        let mut random = Random::from_state(seed);
        let length = random.bits() % 400;
        let bytes: Vec<u8> = (0..length).map(|_| random.bits() as u8).collect();
        let told = std::panic::catch_unwind(|| hostile::run(&bytes));
        assert!(told.is_ok(), "seed {seed}");
    }
}
