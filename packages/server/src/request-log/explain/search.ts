import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { KeySecretsKnown } from '../../stores/key-owners/index.ts';
import {
  bodyVariants,
  prefixVariants,
  type SignedRequest,
  secretVariants,
  type Variant,
} from './variants.ts';

/** Above this size only single mistakes are tried: each try hashes the whole body. */
const PAIRS_BYTES_MAX = 4_096;
/** What one search may hash, some 20 ms of a processor; every try counts as `TRY_BYTES` more. */
const SEARCH_BYTES_MAX = 8 * 1_048_576;
const TRY_BYTES = 1_024;

export interface Candidates {
  request: SignedRequest;
  body: Buffer;
  secrets: KeySecretsKnown;
  apiKey: string;
  receivedAtMs: number;
  nameOf: (keyId: string) => string;
}

interface Mistake {
  mistake: string;
  advice: string;
}

/** What gives the signature: nothing in a list is right as it is. */
export interface Found {
  bytes: Mistake[];
  /** Undefined: it was not used. */
  secret: Mistake[] | undefined;
  /** Another function than HMAC-SHA256. */
  method: Mistake[];
}

interface Parts {
  prefix: Variant<string>;
  body: Variant<Buffer>;
  secret: Variant<string | Buffer>;
}

const macOf = ({ prefix, body, secret }: Parts, algorithm = 'sha256') =>
  createHmac(algorithm, secret.value).update(prefix.value).update(body.value).digest();

const mistakesIn = (...variants: readonly Variant<unknown>[]): Mistake[] =>
  variants.flatMap(({ mistake, advice }) => (mistake === undefined ? [] : [{ mistake, advice }]));

/** Tries likely mistakes, the fewest first, up to a limit of work. @param wanted the bytes of the signature as it was sent */
export function search(candidates: Candidates, wanted: Buffer): Found | undefined {
  const bodies = bodyVariants(candidates.body);
  const prefixes = prefixVariants(candidates.request);
  const { secrets: known, apiKey, receivedAtMs, nameOf } = candidates;
  const secrets = secretVariants(known, apiKey, receivedAtMs, nameOf);
  const [body] = bodies;
  const [prefix] = prefixes;
  const [secret] = secrets;
  if (body === undefined || prefix === undefined || secret === undefined) return undefined;
  const plain: Parts = { prefix, body, secret };
  const changes: Partial<Parts>[][] = [
    bodies.map((body) => ({ body })),
    prefixes.map((prefix) => ({ prefix })),
    secrets.map((secret) => ({ secret })),
  ];
  const singles = changes.flat();
  const pairs =
    candidates.body.length > PAIRS_BYTES_MAX
      ? []
      : changes.flatMap((list, i) =>
          list.flatMap((one) =>
            changes.slice(i + 1).flatMap((rest) => rest.map((two) => ({ ...one, ...two }))),
          ),
        );
  let left = SEARCH_BYTES_MAX;
  for (const change of [...singles, ...pairs]) {
    const parts = { ...plain, ...change };
    left -= TRY_BYTES + parts.prefix.value.length + parts.body.value.length;
    if (left < 0) return undefined;
    const mac = macOf(parts);
    if (mac.length !== wanted.length || !timingSafeEqual(mac, wanted)) continue;
    return { bytes: mistakesIn(parts.prefix, parts.body), secret: mistakesIn(parts.secret), method: [] };
  }
  return searchMethods(plain, wanted);
}

/** Other functions than HMAC-SHA256, over the right bytes with the right secret. */
function searchMethods(parts: Parts, wanted: Buffer): Found | undefined {
  const message = Buffer.concat([Buffer.from(parts.prefix.value), parts.body.value]);
  const secret = Buffer.from(parts.secret.value);
  const sha256 = (...pieces: readonly Buffer[]) =>
    createHash('sha256').update(Buffer.concat(pieces)).digest();
  const functions: readonly (readonly [digest: Buffer, name: string, isKeyed?: boolean])[] = [
    [macOf(parts, 'sha512'), 'HMAC-SHA512'],
    [macOf(parts, 'sha1'), 'HMAC-SHA1'],
    [sha256(message, secret), 'SHA-256 of the payload and the secret'],
    [sha256(secret, message), 'SHA-256 of the secret and the payload'],
    [sha256(message), 'SHA-256 of the payload alone', false],
  ];
  const found = functions.find(([digest]) => digest.equals(wanted));
  if (found === undefined) return undefined;
  const [, name, isKeyed = true] = found;
  const method = [
    { mistake: `The signature is ${name}.`, advice: 'It is HMAC-SHA256, keyed with the Secret Key.' },
  ];
  return { bytes: [], secret: isKeyed ? [] : undefined, method };
}
