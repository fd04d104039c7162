import type { DeliveryFailure } from '@florin/contract/schemas';
import { FULL } from '../scale.ts';
import type { Door } from './hostile-receiver.ts';

/** The outcome of an attempt: an answer's status, or why there was none. */
export type Outcome = number | Exclude<DeliveryFailure, 'http_status' | 'redirect'>;

/** A receiver, and the expected outcome of a delivery to it. */
export interface HostileCase {
  /** A path of hostile-behaviours.ts. */
  behaviour: string;
  door: Door;
  /** Where the receiver is: a host of the stub resolver, of which `*` is replaced by a name of the case's own. */
  host: string;
  /** Another port than the door's. */
  port?: number;
  ends: 'delivered' | 'failed' | 'exhausted';
  /** Of its attempts, in order. */
  outcomes: readonly Outcome[];
}

export const ATTEMPTS_MAX = 11;

type Placed = Partial<Pick<HostileCase, 'door' | 'host' | 'port'>>;

const GOOD = { door: 'good', host: '*.hook.test' } as const;

function endsAtOnce(
  ends: 'delivered' | 'failed',
  status: number,
  behaviours: readonly string[],
): HostileCase[] {
  return behaviours.map((behaviour) => ({ ...GOOD, behaviour, ends, outcomes: [status] }));
}

function never(outcome: Outcome, behaviours: readonly string[], placed: Placed = {}): HostileCase[] {
  const outcomes = Array.from({ length: ATTEMPTS_MAX }, () => outcome);
  return behaviours.map((behaviour) => ({ ...GOOD, ...placed, behaviour, ends: 'exhausted', outcomes }));
}

const doors = (failure: Outcome, names: readonly Door[]) =>
  names.flatMap((door) => never(failure, ['status/200'], { door }));

const RETRY_AFTER = [
  '0',
  '1',
  '-1',
  '120',
  '99999999999',
  '1e3',
  'Wed, 21 Oct 2099 07:28:00 GMT',
  'soon',
  '',
];

/** Hostile receivers, each with the expected end of a delivery. */
export const HOSTILE_CASES: readonly HostileCase[] = [
  ...[200, 201, 202, 204, 206, 226, 299].flatMap((status) =>
    endsAtOnce('delivered', status, [`status/${status}`]),
  ),
  // The header was complete: whatever comes after it, or does not.
  ...endsAtOnce('delivered', 200, [
    'late/300',
    'interim/100',
    'interim/100,102,103,199',
    'body/20480',
    'body/20481',
    'endless-body',
    'drip-body',
    'reset-in-body',
    'close-in-body',
    'odd-bytes',
    'gzip-bomb',
    'header/64000',
    'two-answers',
    'no-keep-alive',
    'answer-and-close',
    'answer-and-close-later',
    'answer-and-reset',
  ]),
  { ...GOOD, door: 'tls-1.2', behaviour: 'status/200', ends: 'delivered', outcomes: [200] },

  ...[300, 304, 400, 401, 403, 404, 408, 409, 410, 413, 418, 425, 451, 600, 999].flatMap((status) =>
    endsAtOnce('failed', status, [`status/${status}`]),
  ),
  ...[301, 302, 303, 307, 308].flatMap((status) => endsAtOnce('failed', status, [`redirect/${status}`])),

  ...[429, 500, 501, 502, 503, 504, 599].flatMap((status) => never(status, [`status/${status}`])),
  ...never(
    503,
    RETRY_AFTER.map((form) => `retry-after/${encodeURIComponent(form)}`),
  ),
  ...never('timeout', ['hang', 'drip-header', 'endless-interim']),
  ...never('connection', ['close', 'reset', 'reset-in-header', 'close-in-header']),
  ...never('protocol', [
    'endless-header',
    'header/70000',
    'not-http',
    'http-9',
    'broken-status',
    'broken-length',
    'upgrade',
  ]),
  ...doors('timeout', ['silent']),
  ...doors('connection', ['reset-after-hello', 'reset-at-accept', 'close-at-accept']),
  ...doors('tls', [
    'self-signed',
    'other-authority',
    'expired',
    'not-yet-valid',
    'wrong-name',
    'old-tls',
    'plain-http',
    'cut-in-handshake',
  ]),
  ...never('connection', ['nobody-listens'], { port: 1 }),
  ...never('dns', ['no-name'], { host: '*.nowhere.test' }),
  ...never('dns', ['broken-resolver'], { host: '*.broken.test' }),
  // The resolver is queried for 14 s in all, and an attempt of a short run ends before.
  ...never(FULL ? 'dns' : 'timeout', ['silent-resolver'], { host: '*.silent.test' }),
  ...never('address_denied', ['private-address'], { host: '*.private.test' }),
  ...never('address_denied', ['metadata-address'], { host: '*.metadata.test' }),
  // One address of many is enough to refuse them all.
  ...never('address_denied', ['mixed-addresses'], { host: '*.mixed.test' }),

  { ...GOOD, behaviour: 'sequence/500,429,200', ends: 'delivered', outcomes: [500, 429, 200] },
  { ...GOOD, behaviour: 'sequence/503,410', ends: 'failed', outcomes: [503, 410] },
  {
    ...GOOD,
    behaviour: 'sequence/500,500,500,500,500,500,500,500,500,500,204',
    ends: 'delivered',
    outcomes: [500, 500, 500, 500, 500, 500, 500, 500, 500, 500, 204],
  },
];

/** The answers of the cases' resolver. */
export function answerFor(name: string): readonly string[] | 'NXDOMAIN' | 'SERVFAIL' | 'TIMEOUT' {
  switch (name.split('.').slice(1).join('.')) {
    case 'hook.test':
      return ['127.0.0.1'];
    case 'private.test':
      return ['10.0.0.1'];
    case 'metadata.test':
      return ['169.254.169.254'];
    case 'mixed.test':
      return ['127.0.0.1', '10.0.0.1'];
    case 'broken.test':
      return 'SERVFAIL';
    case 'silent.test':
      return 'TIMEOUT';
    default:
      return 'NXDOMAIN';
  }
}
