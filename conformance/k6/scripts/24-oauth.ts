// TypeScript; a code challenge (RFC 7636), and hidden values of a form.
import http, { type Response } from 'k6/http';
import { check } from 'k6';
import crypto from 'k6/crypto';
import encoding from 'k6/encoding';

interface Challenge {
  verifier: string;
  challenge: string;
}

enum Step { Authorize = 'authorize', Token = 'token' }

function challenge(verifier: string): Challenge {
  return { verifier, challenge: encoding.b64encode(crypto.sha256(verifier, 'binary') as ArrayBuffer, 'rawurl') };
}

export default function (): void {
  const pair: Challenge = challenge('dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk');
  const page: Response = http.get(`${__ENV.BASE}/page?step=${Step.Authorize}&code_challenge=${pair.challenge}`);
  const csrf = page.html('input[name=csrf]').attr('value') as string;
  const answer = http.post(`${__ENV.BASE}/${Step.Token}`, { code_verifier: pair.verifier, csrf });
  check(pair, { 'is the challenge of the RFC': (each) => each.challenge === 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM' });
  check(answer, { 'has a token': (r) => r.json('token') === 't-1' });
}
