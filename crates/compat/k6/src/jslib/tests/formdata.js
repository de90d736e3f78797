import { equal } from 'assert';
import { FormData } from 'https://jslib.k6.io/formdata/1.0.0/index.js';

const form = new FormData();
form.append('name', 'Zoë "x"\r\n');
form.append('na"me', 7);
form.append('file', { data: 'text', filename: 'a".txt', content_type: 'text/plain' });
form.append('bytes', { data: new Uint8Array([0, 255, 10]).buffer, filename: 'b.bin' });
form.append('view', new Uint8Array([1, 2, 3, 4]).subarray(1, 3));

equal(form.body() instanceof ArrayBuffer, true);
const bytes = [...new Uint8Array(form.body())];
const text = String.fromCharCode(...bytes);
const line = `--${form.boundary}`;
equal(text.split('\r\n'), [
  line, 'Content-Disposition: form-data; name="name"', '', 'Zo\u00c3\u00ab "x"', '',
  line, 'Content-Disposition: form-data; name="na%22me"', '', '7',
  line, 'Content-Disposition: form-data; name="file"; filename="a%22.txt"', 'Content-Type: text/plain', '', 'text',
  line, 'Content-Disposition: form-data; name="bytes"; filename="b.bin"', 'Content-Type: application/octet-stream', '', '\u0000\u00ff\n',
  line, 'Content-Disposition: form-data; name="view"; filename="blob"', 'Content-Type: application/octet-stream', '', '\u0002\u0003',
  `${line}--`, '',
]);
equal(form.contentType, `multipart/form-data; boundary=${form.boundary}`);
equal(/^-+drumfire\d+$/.test(form.boundary) && form.boundary.length <= 70, true);
equal(new FormData().boundary === form.boundary, false);
