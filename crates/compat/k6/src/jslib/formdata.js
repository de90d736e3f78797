// The body of a form with files, as `multipart/form-data` (RFC 7578).

const SAFE = { '\n': '%0A', '\r': '%0D', '"': '%22' };
const escaped = (name) => String(name).replace(/[\n\r"]/g, (letter) => SAFE[letter]);

/** The bytes of a text in UTF-8. */
function utf8(text) {
  const bytes = [];
  for (const letter of text) {
    const code = letter.codePointAt(0);
    if (code < 0x80) {
      bytes.push(code);
    } else if (code < 0x800) {
      bytes.push(0xc0 | (code >> 6), 0x80 | (code & 63));
    } else if (code < 0x10000) {
      bytes.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
    } else {
      bytes.push(0xf0 | (code >> 18), 0x80 | ((code >> 12) & 63), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
    }
  }
  return Uint8Array.from(bytes);
}

function bytesOf(value) {
  if (value instanceof ArrayBuffer) {
    return new Uint8Array(value);
  }
  if (ArrayBuffer.isView(value)) {
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  }
  if (Array.isArray(value)) {
    return Uint8Array.from(value);
  }
  return utf8(String(value));
}

const isFile = (value) =>
  value !== null && typeof value === 'object' && 'data' in value && !ArrayBuffer.isView(value);

/** A form. A value is a text, bytes, or what `http.file` returns. */
export class FormData {
  constructor() {
    this.parts = [];
    this.boundary = '------drumfire';
    while (this.boundary.length < 40) {
      this.boundary += Math.floor(Math.random() * 10);
    }
  }

  append(name, value, filename) {
    const part = isFile(value)
      ? { data: value.data, file: value.filename, type: value.content_type }
      : { data: value };
    if (filename !== undefined) {
      part.file = filename;
    }
    if (part.file === undefined && (value instanceof ArrayBuffer || ArrayBuffer.isView(value))) {
      part.file = 'blob';
    }
    this.parts.push({ ...part, name });
  }

  /** The value of the header `Content-Type`. */
  get contentType() {
    return `multipart/form-data; boundary=${this.boundary}`;
  }

  /** The bytes of the form. */
  body() {
    const chunks = [];
    for (const { name, data, file, type } of this.parts) {
      let head = `--${this.boundary}\r\nContent-Disposition: form-data; name="${escaped(name)}"`;
      if (file !== undefined) {
        head += `; filename="${escaped(file)}"\r\nContent-Type: ${type || 'application/octet-stream'}`;
      }
      chunks.push(utf8(`${head}\r\n\r\n`), bytesOf(data), utf8('\r\n'));
    }
    chunks.push(utf8(`--${this.boundary}--\r\n`));
    const all = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
    let at = 0;
    for (const chunk of chunks) {
      all.set(chunk, at);
      at += chunk.length;
    }
    return all.buffer;
  }
}
