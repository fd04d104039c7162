import { createHmac } from 'node:crypto';
import {
  isNonce,
  isTimestamp,
  NONCE_HEADER,
  NONCE_LENGTH_MAX,
  NONCE_LENGTH_MIN,
  SIGNATURE_HEADER,
  signatureForm,
  TIMESTAMP_HEADER,
  TIMESTAMP_SKEW_MAX_SECONDS,
} from '@florin/contract/signing';
import type { GivenRequest } from './read-request.ts';
import { bodyVariants, messageVariants, secretVariants } from './variants.ts';

export interface Evidence {
  request: GivenRequest;
  secrets: readonly string[];
  /** Other known secrets, such as the sandbox's. */
  others: readonly { value: string; name: string }[];
  /** When it was received, Unix seconds. */
  receivedAt: number;
}

/** One of the six steps of verification. */
export interface Finding {
  step: number;
  name: string;
  /** Null: unknown, because another step failed. */
  ok: boolean | null;
  reason: string;
  /** What to do. */
  advice: string | null;
}

type Verdict = Omit<Finding, 'step' | 'name'>;

const NAMES = ['headers', 'timestamp', 'nonce', 'signed bytes', 'secret', 'signature'];
const fine = (reason: string): Verdict => ({ ok: true, reason, advice: null });
const wrong = (reason: string, advice: string): Verdict => ({ ok: false, reason, advice });
const unknown = (reason: string): Verdict => ({ ok: null, reason, advice: null });

/** Checks all steps of the specification, section 6, and explains each failure. */
export function diagnose(evidence: Evidence): Finding[] {
  const headerOf = (name: string) => evidence.request.headers.get(name.toLowerCase())?.[0] ?? '';
  const timestamp = headerOf(TIMESTAMP_HEADER);
  const nonce = headerOf(NONCE_HEADER);
  const signature = headerOf(SIGNATURE_HEADER);
  const verdicts = [
    checkHeaders(evidence.request),
    checkTimestamp(timestamp, evidence.receivedAt),
    checkNonce(nonce),
    ...checkSignature(evidence, { timestamp, nonce, signature }),
  ];
  return verdicts.map((verdict, i) => ({ step: i + 1, name: NAMES[i] ?? '', ...verdict }));
}

function checkHeaders({ headers }: GivenRequest): Verdict {
  const needed = [SIGNATURE_HEADER, TIMESTAMP_HEADER, NONCE_HEADER];
  const valuesOf = (name: string) => (headers.get(name.toLowerCase()) ?? []).filter((value) => value !== '');
  const missing = needed.filter((name) => valuesOf(name).length === 0);
  if (missing.length > 0) {
    const advice =
      'A proxy or gateway drops headers that it does not know; or this request is not from Florin.';
    return wrong(`${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} missing.`, advice);
  }
  const repeated = needed.filter((name) => valuesOf(name).length > 1);
  if (repeated.length === 0) return fine('Signature, timestamp and nonce are there.');
  return wrong(
    `${repeated.join(', ')} came more than once.`,
    'Something between adds a second one: refuse it.',
  );
}

function checkTimestamp(timestamp: string, receivedAt: number): Verdict {
  if (timestamp === '') return unknown('There is none.');
  if (/^\d{13}$/.test(timestamp))
    return wrong('The timestamp is in milliseconds.', 'It is Unix seconds: 10 digits.');
  if (!isTimestamp(timestamp))
    return wrong('The timestamp is not 1 to 12 plain digits.', 'It is Unix seconds.');
  const skew = receivedAt - Number(timestamp);
  const allowed = TIMESTAMP_SKEW_MAX_SECONDS;
  if (Math.abs(skew) <= allowed) return fine(`${spell(skew)} off, ${allowed} s are allowed.`);
  if (skew < 0)
    return wrong(`The timestamp is ${spell(-skew)} ahead.`, 'The clock of this machine is slow: use NTP.');
  return wrong(
    `The timestamp is ${spell(skew)} old, ${allowed} s are allowed.`,
    'A request recorded earlier is always old: say with --at when it came. If it came just now, the clock of the receiver is fast, or the request waited in a queue.',
  );
}

function spell(seconds: number): string {
  const units = [
    [86_400, 'd'],
    [3_600, 'h'],
    [60, 'min'],
  ] as const;
  const [size, unit] = units.find(([size]) => Math.abs(seconds) >= 2 * size) ?? [1, 's'];
  return `${Math.round(seconds / size)} ${unit}`;
}

function checkNonce(nonce: string): Verdict {
  if (nonce === '') return unknown('There is none.');
  const { length } = nonce;
  if (length < NONCE_LENGTH_MIN || length > NONCE_LENGTH_MAX) {
    const reason = `The nonce has ${length} characters, not ${NONCE_LENGTH_MIN} to ${NONCE_LENGTH_MAX}.`;
    return wrong(reason, 'It was cut or made up: compare it with what was sent.');
  }
  if (isNonce(nonce)) return fine(`${length} characters.`);
  return wrong('The nonce holds white space or characters beyond ASCII.', 'It was changed on the way.');
}

interface Signed {
  timestamp: string;
  nonce: string;
  signature: string;
}

/** Steps 4 to 6. */
function checkSignature(evidence: Evidence, signed: Signed): [Verdict, Verdict, Verdict] {
  const { timestamp, nonce, signature } = signed;
  if (timestamp === '' || nonce === '' || signature === '') {
    const reason = 'It needs the headers of step 1.';
    return [unknown(reason), unknown(reason), unknown(reason)];
  }
  const found = search(evidence, signed);
  const spelling = spellingOf(signature);
  if (found === undefined) return unexplained(evidence, spelling);
  const { bytes, secret } = found;
  const [mistake] = bytes;
  return [
    mistake === undefined
      ? fine(`${evidence.request.body.length} bytes of body, as they were signed.`)
      : wrong(mistake.mistake, mistake.advice),
    secret.mistake === undefined
      ? fine('The secret is the one that signed.')
      : wrong(secret.mistake, secret.advice),
    spelling ??
      (mistake === undefined && secret.mistake === undefined
        ? fine('The signature matches.')
        : wrong('The signature does not match what was given.', 'It would with what steps 4 and 5 advise.')),
  ];
}

interface Found {
  /** What is wrong with the bytes; nothing where they are right. */
  bytes: { mistake: string; advice: string }[];
  secret: { mistake: string | undefined; advice: string };
}

/** Finds the combination with the fewest mistakes that gives this signature. */
function search({ request, secrets, others }: Evidence, { timestamp, nonce, signature }: Signed) {
  const wanted = signature.toLowerCase();
  const mistakesOf = ({ bytes, secret }: Found) => bytes.length + (secret.mistake === undefined ? 0 : 1);
  const ways = bodyVariants(request.body).flatMap((body) =>
    messageVariants(body.value, timestamp, nonce).flatMap((message) =>
      secretVariants(secrets, others)
        .filter((secret) => macOf(secret.value, message.value).some((text) => text === wanted))
        .map((secret): Found => {
          const bytes = [body, message].flatMap(({ mistake, advice }) =>
            mistake === undefined ? [] : [{ mistake, advice }],
          );
          return { bytes, secret };
        }),
    ),
  );
  return ways.sort((a, b) => mistakesOf(a) - mistakesOf(b))[0];
}

/** In hex, and in base64 as others write it. */
function macOf(secret: string, message: Buffer): string[] {
  const mac = createHmac('sha256', secret).update(message).digest();
  return [mac.toString('hex'), mac.toString('base64').toLowerCase()];
}

function spellingOf(signature: string): Verdict | undefined {
  switch (signatureForm(signature)) {
    case 'right':
      return undefined;
    case 'upper_case':
      return wrong('The signature is in upper-case hex.', 'It is lower-case hex: compare the text as it is.');
    case 'base64':
      return wrong('The signature is in base64.', 'It is 64 digits of lower-case hex.');
    case 'other': {
      const reason = `The signature has ${signature.length} characters and is not 64 digits of lower-case hex.`;
      return wrong(reason, 'Compare it with what was sent: a prefix such as sha256= does not belong to it.');
    }
  }
}

/** No combination gives the signature. */
function unexplained(
  { request, secrets }: Evidence,
  spelling: Verdict | undefined,
): [Verdict, Verdict, Verdict] {
  const isApiKey = secrets.some((secret) => /^fl_(test|live)_/.test(secret.trim()));
  const keyAdvice = 'Webhooks are signed with the Secret Key (fls_…), which comes with the API key.';
  return [
    unknown(
      request.body.length === 0
        ? 'The body given is empty: a webhook never is.'
        : `${request.body.length} bytes of body: whether they are as they were signed cannot be told.`,
    ),
    isApiKey
      ? wrong('The secret given looks like an API key.', keyAdvice)
      : unknown('Whether it is the one that signed cannot be told.'),
    spelling ??
      wrong(
        'The signature does not match, in no way that was tried.',
        'Either the secret belongs to another key (florin stores webhook-key names the one that signs), or the body was changed beyond what can be undone: keys sorted, numbers rewritten, cut off.',
      ),
  ];
}
