import { createHash } from 'node:crypto';
import {
  isNonce,
  isTimestamp,
  NONCE_HEADER,
  NONCE_LENGTH_MAX,
  NONCE_LENGTH_MIN,
  SIGNATURE_HEADER,
  signatureForm,
  signedPrefix,
  TIMESTAMP_HEADER,
  TIMESTAMP_SKEW_MAX_SECONDS,
} from '@florin/contract/signing';
import { EXCHANGE_BODY_BYTES_MAX, type Exchange } from '../../platform/http/exchanges/index.ts';
import type { KeySecretsKnown } from '../../stores/key-owners/index.ts';
import { fine, type RefusalExplanation, unknown, type Verdict, wrong } from './explanation.ts';
import { type Found, search } from './search.ts';

export interface RefusalEvidence {
  exchange: Exchange;
  apiKey: string;
  secrets: KeySecretsKnown;
  /** The public id of a key. */
  nameOf: (keyId: string) => string;
}

interface Given {
  timestamp: string;
  nonce: string;
  signature: string;
}

const NEEDED = ['Authorization', TIMESTAMP_HEADER, NONCE_HEADER, SIGNATURE_HEADER];

/** Says which step of signing failed, as far as the request shows it. The result is for the log; it is never part of an answer. */
export function explainRefusal(evidence: RefusalEvidence): RefusalExplanation {
  const { exchange } = evidence;
  const headerOf = (name: string) => exchange.headers[name.toLowerCase()] ?? '';
  const given = {
    timestamp: headerOf(TIMESTAMP_HEADER),
    nonce: headerOf(NONCE_HEADER),
    signature: headerOf(SIGNATURE_HEADER),
  };
  const [bytes, secret, signature] = checkSignature(evidence, given);
  const steps = [
    { name: 'headers' as const, ...checkHeaders(exchange) },
    { name: 'key' as const, ...checkKey(evidence) },
    { name: 'timestamp' as const, ...checkTimestamp(given.timestamp, exchange) },
    { name: 'nonce' as const, ...checkNonce(given.nonce, exchange.refusal) },
    { name: 'signed bytes' as const, ...bytes },
    { name: 'secret key' as const, ...secret },
    { name: 'signature' as const, ...signature },
  ];
  const summary = steps.find(({ ok }) => ok === false)?.reason ?? 'Which step failed cannot be told.';
  return { summary, payload: payloadOf(exchange, given), steps };
}

function payloadOf({ refusedBody }: Exchange, { timestamp, nonce }: Given): RefusalExplanation['payload'] {
  if (refusedBody === undefined || timestamp === '' || nonce === '') return null;
  const prefix = signedPrefix(timestamp, nonce);
  const sha256 = createHash('sha256').update(prefix).update(refusedBody).digest('hex');
  return { bytes: prefix.length + refusedBody.length, sha256 };
}

function checkHeaders({ headers, repeated }: Exchange): Verdict {
  const missing = NEEDED.filter((name) => (headers[name.toLowerCase()] ?? '') === '');
  const are = (names: readonly string[]) => (names.length === 1 ? 'is' : 'are');
  if (missing.length > 0)
    return wrong(`${missing.join(', ')} ${are(missing)} missing.`, 'Send all four with every request.');
  const twice = NEEDED.filter((name) => repeated.has(name.toLowerCase()));
  if (twice.length > 0)
    return wrong(`${twice.join(', ')} came more than once.`, 'Your client, or a proxy, adds a second one.');
  if (!/^Bearer [\x21-\x7e]+$/i.test(headers.authorization ?? ''))
    return wrong('Authorization is not "Bearer", one space and the API key.', 'Authorization: Bearer fl_…');
  return fine('All four are there, once.');
}

function checkKey({ exchange, secrets }: RefusalEvidence): Verdict {
  const { expiresAtMs, revokedAtMs } = secrets;
  if (revokedAtMs !== undefined) return wrong('The API key is revoked.', 'Make a new key.');
  if (expiresAtMs !== undefined && expiresAtMs <= exchange.answeredAtMs)
    return wrong('The API key has expired.', 'Make a new key; a validity of 0 days has no end.');
  return fine('The API key is valid.');
}

function checkTimestamp(timestamp: string, { answeredAtMs, refusal }: Exchange): Verdict {
  if (timestamp === '') return unknown('There is none.');
  if (/^\d{13}$/.test(timestamp))
    return wrong(
      'The timestamp is in milliseconds.',
      'It is Unix seconds: divide by 1,000 and cut the rest off.',
    );
  if (/^\d+\.\d+$/.test(timestamp))
    return wrong('The timestamp has a fraction.', 'It is whole Unix seconds.');
  if (/^\d{4}-\d{2}-\d{2}/.test(timestamp))
    return wrong('The timestamp is a date.', 'It is Unix seconds: 10 digits.');
  if (!isTimestamp(timestamp))
    return wrong('The timestamp is not 1 to 12 plain digits.', 'It is Unix seconds.');
  const late = Math.floor(answeredAtMs / 1000) - Number(timestamp);
  const allowed = TIMESTAMP_SKEW_MAX_SECONDS;
  if (refusal === 'timestamp' && Math.abs(late) <= allowed)
    return wrong(
      `The timestamp is more than ${allowed} s off by the clock of the database: this server's clock differs from it.`,
      'Set the clocks of your server and of the service by NTP.',
    );
  if (Math.abs(late) <= allowed) return fine(`${Math.abs(late)} s off, ${allowed} s are allowed.`);
  const sense = late > 0 ? 'old' : 'ahead';
  return wrong(
    `The timestamp is ${Math.abs(late)} s ${sense}, ${allowed} s are allowed.`,
    'Set the clock of your server by NTP, and make the timestamp just before sending.',
  );
}

function checkNonce(nonce: string, refusal: string | undefined): Verdict {
  if (nonce === '') return unknown('There is none.');
  const { length } = nonce;
  if (length < NONCE_LENGTH_MIN || length > NONCE_LENGTH_MAX) {
    const reason = `The nonce has ${length} characters, not ${NONCE_LENGTH_MIN} to ${NONCE_LENGTH_MAX}.`;
    return wrong(reason, 'A UUID is fine.');
  }
  if (!isNonce(nonce))
    return wrong('The nonce holds white space or characters beyond ASCII.', 'A UUID is fine.');
  if (refusal === 'nonce')
    return wrong('The nonce was used before with this key.', 'Make a new one for each request, retries too.');
  return fine(`${length} characters.`);
}

/** The bytes of a signature, however they are spelled. */
function macIn(signature: string): Buffer | undefined {
  const bare = signature.trim().replace(/^(?:(?:hmac-)?sha256=|v1=|0x)/i, '');
  if (/^(?:[0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{128})$/i.test(bare)) return Buffer.from(bare, 'hex');
  return /^[A-Za-z0-9+/_-]{43}=?$/.test(bare) ? Buffer.from(bare, 'base64') : undefined;
}

function spellingOf(signature: string): Verdict | undefined {
  switch (signatureForm(signature)) {
    case 'right':
      return undefined;
    case 'upper_case':
      return wrong('The signature is in upper-case hex.', 'Write it in lower-case hex.');
    case 'base64':
      return wrong('The signature is in base64.', 'Write it as 64 digits of lower-case hex.');
    case 'other': {
      const reason = `The signature has ${signature.length} characters and is not 64 digits of lower-case hex.`;
      return wrong(reason, 'Send the 64 digits alone, without a prefix such as sha256=.');
    }
  }
}

/** The steps `signed bytes`, `secret key` and `signature`. */
function checkSignature(evidence: RefusalEvidence, given: Given): readonly [Verdict, Verdict, Verdict] {
  const { exchange, secrets, apiKey, nameOf } = evidence;
  const { refusedBody: body } = exchange;
  const none = unknown('It needs the headers.');
  if (given.signature === '') return [none, none, none];
  const spelling = spellingOf(given.signature);
  if (body === undefined) {
    const reason =
      exchange.refusal === 'headers'
        ? 'The body of a request with such headers is not kept: mend them first.'
        : `Bodies of more than ${EXCHANGE_BODY_BYTES_MAX.toLocaleString('en-US')} bytes are not tried.`;
    return [unknown(reason), unknown(reason), spelling ?? unknown(reason)];
  }
  const wanted = macIn(given.signature);
  const request = { ...given, method: exchange.method, url: exchange.url };
  const candidates = { request, body, secrets, apiKey, receivedAtMs: exchange.answeredAtMs, nameOf };
  const found = wanted && search(candidates, wanted);
  return found === undefined ? unexplained(body, spelling) : explained(found, body, spelling);
}

function explained(found: Found, body: Buffer, spelling: Verdict | undefined): [Verdict, Verdict, Verdict] {
  const all = [...found.bytes, ...(found.secret ?? []), ...found.method];
  const toVerdict = (mistakes: Found['bytes'], right: string) =>
    mistakes.length === 0
      ? fine(right)
      : wrong(
          mistakes.map(({ mistake }) => mistake).join(' '),
          mistakes.map(({ advice }) => advice).join(' '),
        );
  const last =
    all.length === 0
      ? fine('The signature is right.')
      : toVerdict(found.method, 'It is what the steps above explain.');
  return [
    toVerdict(found.bytes, `${body.length} bytes of body, as they were signed.`),
    found.secret === undefined
      ? unknown('The signature does not depend on it.')
      : toVerdict(found.secret, 'The Secret Key is the right one.'),
    // Digits of another function are spelled as that function has them.
    found.method.length > 0 ? last : (spelling ?? last),
  ];
}

function unexplained(body: Buffer, spelling: Verdict | undefined): [Verdict, Verdict, Verdict] {
  return [
    unknown(`${body.length} bytes of body: whether they are as they were signed cannot be told.`),
    unknown('Whether it is the one that signed cannot be told.'),
    spelling ??
      wrong(
        'The signature fits nothing that was tried: another secret, or other bytes.',
        'Compare the SHA-256 of what your code signs with the payload\'s. The page "Signing a request" has vectors.',
      ),
  ];
}
