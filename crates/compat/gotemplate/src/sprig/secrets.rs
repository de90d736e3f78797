//! Password hashes, encryption and derived passwords. Random parts come from the call's random
//! bits, so that a run is reproducible.

use super::arguments::text;
use super::convert::to_int;
use crate::call::Call;
use crate::fault::Fault;
use crate::function::Row;
use crate::raw_bytes;
use crate::value::Value;
use aes::Aes256;
use base64::engine::GeneralPurpose;
use base64::engine::general_purpose::{NO_PAD, STANDARD};
use base64::{Engine as _, alphabet};
use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockModeDecrypt as _, BlockModeEncrypt as _, KeyIvInit as _};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

pub(super) const FUNCTIONS: &[Row] = &[
    ("bcrypt", "s", |call, args| {
        let hash = hashed(call, text(args, 0))?;
        call.text(hash)
    }),
    ("decryptAES", "ss", |call, args| {
        let text = decrypted(call, text(args, 0), text(args, 1))?;
        call.text(text)
    }),
    ("derivePassword", "aasss", derive),
    ("encryptAES", "ss", |call, args| {
        let text = encrypted(call, text(args, 0), text(args, 1))?;
        call.text(text)
    }),
    ("htpasswd", "ss", |call, args| {
        let (user, password) = (text(args, 0), text(args, 1));
        if user.contains(':') {
            return call.text(format!("invalid username: {user}"));
        }
        let hash = hashed(call, password)?;
        call.text(format!("{user}:{hash}"))
    }),
];

/// The cost of bcrypt, as a power of two: the default of Go's library.
const COST: u32 = 10;

/// The cost of one hash or derived key, in template steps.
const HASH_WORK: usize = 1_000_000;

const BLOCK: usize = 16;

/// Base64 with bcrypt's alphabet.
const BCRYPT_BASE64: GeneralPurpose = GeneralPurpose::new(&alphabet::BCRYPT, NO_PAD);

fn hashed(call: &mut Call<'_>, password: &str) -> Result<String, Fault> {
    // Go's library rejects passwords that bcrypt would truncate.
    if password.len() > 72 {
        let why = "bcrypt: password length exceeds 72 bytes";
        return Ok(format!("failed to encrypt string with bcrypt: {why}"));
    }
    call.work(HASH_WORK)?;
    let salt = random_block(call);
    let mut ended = password.as_bytes().to_vec();
    // bcrypt hashes the text with a trailing zero, at most 72 bytes in total.
    ended.push(0);
    ended.truncate(72);
    let hash = bcrypt::bcrypt(COST, salt, &ended);
    // The last byte of a hash is omitted.
    let (salt, hash) = (
        BCRYPT_BASE64.encode(salt),
        BCRYPT_BASE64.encode(&hash[..23]),
    );
    Ok(format!("$2a${COST}${salt}{hash}"))
}

fn random_block(call: &mut Call<'_>) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    for half in block.chunks_mut(8) {
        half.copy_from_slice(&call.env.random().to_le_bytes());
    }
    block
}

/// A 32-byte key: the start of the password, padded with zeros.
fn key(password: &str) -> [u8; 32] {
    let mut key = [0; 32];
    let length = password.len().min(key.len());
    key[..length].copy_from_slice(&password.as_bytes()[..length]);
    key
}

fn encrypted(call: &mut Call<'_>, password: &str, plain: &str) -> Result<String, Fault> {
    if plain.is_empty() {
        return Ok(String::new());
    }
    call.work(plain.len() / 16)?;
    let vector = random_block(call);
    let cipher = cbc::Encryptor::<Aes256>::new(&key(password).into(), &vector.into());
    let mut bytes = vector.to_vec();
    bytes.extend(cipher.encrypt_padded_vec::<Pkcs7>(&raw_bytes::of_text(plain)));
    Ok(STANDARD.encode(bytes))
}

fn decrypted(call: &mut Call<'_>, password: &str, text: &str) -> Result<String, Fault> {
    if text.is_empty() {
        return Ok(String::new());
    }
    call.work(text.len() / 16)?;
    let bytes = STANDARD
        .decode(text)
        .map_err(|error| Fault::from(error.to_string()))?;
    let (vector, bytes) = bytes
        .split_first_chunk::<BLOCK>()
        .ok_or_else(|| Fault::from("ciphertext too short".to_owned()))?;
    let cipher = cbc::Decryptor::<Aes256>::new(&key(password).into(), vector.into());
    let plain = cipher.decrypt_padded_vec::<Pkcs7>(bytes);
    let plain = plain.map_err(|_| Fault::from("the text was not encrypted so".to_owned()))?;
    Ok(raw_bytes::to_text(&plain))
}

/// The prefix of every salt and seed in the Master Password algorithm.
const SCOPE: &[u8] = b"com.lyndir.masterpassword";

/// The templates of each kind of password; each letter is a class of characters.
const SHAPES: [(&str, &[&str]); 6] = [
    ("maximum", &["anoxxxxxxxxxxxxxxxxx", "axxxxxxxxxxxxxxxxxno"]),
    (
        "long",
        &[
            "CvcvnoCvcvCvcv",
            "CvcvCvcvnoCvcv",
            "CvcvCvcvCvcvno",
            "CvccnoCvcvCvcv",
            "CvccCvcvnoCvcv",
            "CvccCvcvCvcvno",
            "CvcvnoCvccCvcv",
            "CvcvCvccnoCvcv",
            "CvcvCvccCvcvno",
            "CvcvnoCvcvCvcc",
            "CvcvCvcvnoCvcc",
            "CvcvCvcvCvccno",
            "CvccnoCvccCvcv",
            "CvccCvccnoCvcv",
            "CvccCvccCvcvno",
            "CvcvnoCvccCvcc",
            "CvcvCvccnoCvcc",
            "CvcvCvccCvccno",
            "CvccnoCvcvCvcc",
            "CvccCvcvnoCvcc",
            "CvccCvcvCvccno",
        ],
    ),
    ("medium", &["CvcnoCvc", "CvcCvcno"]),
    ("short", &["Cvcn"]),
    ("basic", &["aaanaaan", "aannaaan", "aaannaaa"]),
    ("pin", &["nnnn"]),
];

const fn class(letter: u8) -> &'static [u8] {
    match letter {
        b'V' => b"AEIOU",
        b'C' => b"BCDFGHJKLMNPQRSTVWXYZ",
        b'v' => b"aeiou",
        b'c' => b"bcdfghjklmnpqrstvwxyz",
        b'a' => b"AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz",
        b'n' => b"0123456789",
        b'o' => b"@&%?,=[]_:-+*$#!'^~;()/.",
        _ => b"AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz0123456789!@#$%^&*()",
    }
}

/// Derives a password with the Master Password algorithm. The arguments are a counter, a kind, the
/// master password, the user and the site.
fn derive(call: &mut Call<'_>, args: &[Value]) -> Result<Value, Fault> {
    let kind = text(args, 1);
    let Some((_, shapes)) = SHAPES.iter().find(|(name, _)| *name == kind) else {
        return call.text(format!("cannot find password template {kind}"));
    };
    call.work(HASH_WORK)?;
    let named = |name: &str| {
        let mut bytes = SCOPE.to_vec();
        bytes.extend((name.len() as u32).to_be_bytes());
        bytes.extend_from_slice(name.as_bytes());
        bytes
    };
    let mut key = [0; 64];
    let broken = |error: &dyn std::fmt::Display| Fault::from(error.to_string());
    let params = scrypt::Params::new(15, 8, 2).map_err(|error| broken(&error))?;
    scrypt::scrypt(
        text(args, 2).as_bytes(),
        &named(text(args, 3)),
        &params,
        &mut key,
    )
    .map_err(|error| broken(&error))?;
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).map_err(|error| broken(&error))?;
    mac.update(&named(text(args, 4)));
    mac.update(&(to_int(&args[0]) as u32).to_be_bytes());
    let seed = mac.finalize().into_bytes();
    let shape = shapes[usize::from(seed[0]) % shapes.len()];
    let letters = shape.bytes().zip(&seed[1..]);
    let password = letters.map(|(letter, byte)| {
        let class = class(letter);
        char::from(class[usize::from(*byte) % class.len()])
    });
    call.text(password.collect::<String>())
}
