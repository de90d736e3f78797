// crypto.subtle: digests and HMAC (W3C, Web Cryptography API). Other algorithms are refused by name.
(function (native, k6) {
"use strict";

const HASHES = { "SHA-1": ["sha1", 64], "SHA-256": ["sha256", 64], "SHA-384": ["sha384", 128], "SHA-512": ["sha512", 128] };
const nameOf = (algorithm) => String(typeof algorithm === "object" && algorithm !== null ? algorithm.name : algorithm).toUpperCase();
function refuse(kind, text) {
  const error = new Error(text);
  error.name = kind;
  throw error;
}
function hashOf(algorithm) {
  const name = nameOf(algorithm);
  return HASHES[name] ?? refuse("NotSupportedError", `${name} is not available in drumfire's crypto.subtle; it has ${Object.keys(HASHES).join(", ")}`);
}
function needHmac(algorithm) {
  const name = nameOf(algorithm);
  if (name !== "HMAC") refuse("NotSupportedError", `${name} is not available in drumfire's crypto.subtle; it has HMAC and digests`);
}

let bytesOfKey;
class CryptoKey {
  #bytes;
  static {
    bytesOfKey = (key) => (key instanceof CryptoKey ? key.#bytes : refuse("TypeError", "a CryptoKey is needed"));
  }
  constructor(bytes, hash, extractable, usages) {
    this.#bytes = bytes;
    this.type = "secret";
    this.extractable = Boolean(extractable);
    this.algorithm = { name: "HMAC", hash: { name: nameOf(hash) }, length: bytes.byteLength * 8 };
    this.usages = [...usages];
  }
}
function usable(key, usage) {
  bytesOfKey(key);
  if (!key.usages.includes(usage)) refuse("InvalidAccessError", `the key is not for ${usage}`);
}
function signature(key, data) {
  const [hash] = hashOf(key.algorithm.hash);
  return native.hash(hash, k6.bytesOf(data), bytesOfKey(key));
}
const fromUrl = (text) => native.b64decode(String(text), "rawurl");

const subtle = {
  async digest(algorithm, data) {
    const [hash] = hashOf(algorithm);
    return native.hash(hash, k6.bytesOf(data));
  },
  async importKey(format, data, algorithm, extractable, usages) {
    needHmac(algorithm);
    hashOf(algorithm.hash);
    switch (format) {
      case "raw": return new CryptoKey(k6.bytesOf(data).slice(0), algorithm.hash, extractable, usages);
      case "jwk":
        if (data?.kty !== "oct") refuse("DataError", "the key of HMAC has the kty oct");
        return new CryptoKey(fromUrl(data.k), algorithm.hash, extractable, usages);
      default: return refuse("NotSupportedError", `the format ${format} is not available for HMAC; use raw or jwk`);
    }
  },
  async exportKey(format, key) {
    const bytes = bytesOfKey(key);
    if (!key.extractable) refuse("InvalidAccessError", "the key is not extractable");
    switch (format) {
      case "raw": return bytes.slice(0);
      case "jwk": return {
        kty: "oct", k: native.b64encode(bytes, "rawurl"), alg: `HS${key.algorithm.hash.name.slice(4)}`,
        ext: key.extractable, key_ops: [...key.usages],
      };
      default: return refuse("NotSupportedError", `the format ${format} is not available for HMAC; use raw or jwk`);
    }
  },
  async generateKey(algorithm, extractable, usages) {
    needHmac(algorithm);
    const [, block] = hashOf(algorithm.hash);
    const length = algorithm.length === undefined ? block : Math.ceil(algorithm.length / 8);
    return new CryptoKey(native.randomBytes(length), algorithm.hash, extractable, usages);
  },
  async sign(algorithm, key, data) {
    needHmac(algorithm);
    usable(key, "sign");
    return signature(key, data);
  },
  async verify(algorithm, key, given, data) {
    needHmac(algorithm);
    usable(key, "verify");
    const [one, other] = [new Uint8Array(signature(key, data)), new Uint8Array(k6.bytesOf(given))];
    return one.length === other.length && one.every((byte, at) => byte === other[at]);
  },
};
for (const name of ["encrypt", "decrypt", "deriveKey", "deriveBits", "wrapKey", "unwrapKey"]) {
  subtle[name] = async () => refuse("NotSupportedError", `${name}() is not available in drumfire's crypto.subtle`);
}
return { subtle, CryptoKey };
})
