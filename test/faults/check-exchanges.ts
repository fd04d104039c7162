import type { Finding } from './checker.ts';
import type { Exchange, GoodClient } from './good-client.ts';

/** Refusals that a well-made request may meet, as it races with others of its own merchant. */
const RACES = ['batch_cannot_submit', 'invalid_request', 'invalid_request_error', 'conflict'];

/** What somebody is told who asks for what is another's, or asks again with a nonce that was taken. */
const REBUFFS = [400, 401, 404];

/** I9, I15: each nonce was taken once, and every answer has a specified shape. */
export function checkExchanges({ exchanges }: GoodClient): Finding[] {
  const taken = Map.groupBy(exchanges.filter(isTaken), (exchange) => exchange.nonce);
  const twice = [...taken].filter(([, own]) => own.length > 1);
  return [
    ...twice.map(([nonce, own]) => ({
      invariant: 'I9',
      what: `nonce ${nonce} was taken ${own.length} times`,
    })),
    ...exchanges.flatMap((exchange) => {
      const fault = faultOf(exchange);
      return fault === undefined ? [] : [{ invariant: 'I15', what: describe(exchange, fault) }];
    }),
  ];
}

/** An answer that only a request with a fresh nonce gets. */
const isTaken = ({ status }: Exchange) => status !== 0 && status !== 401 && status !== 503;
/** What every key of a suspended merchant is told. */
const isSuspended = ({ status, whileSuspended }: Exchange) => status === 403 && whileSuspended;

const describe = ({ method, url, status, text }: Exchange, fault: string) =>
  `${method} ${new URL(url).pathname}: ${status}, ${fault}: ${text.slice(0, 200)}`;

/** What is wrong with an answer; undefined for none at all and for a right one. */
function faultOf(exchange: Exchange): string | undefined {
  const { status, isHostile } = exchange;
  if (status === 0 || status === 200 || isSuspended(exchange)) return undefined;
  const code = errorCodeOf(exchange);
  if (code === undefined) return 'no error body of the specification';
  if (status === 503) return exchange.retryAfter === null ? '503 without Retry-After' : undefined;
  if (isHostile && REBUFFS.includes(status)) return undefined;
  if (status === 401) return 'a good request was refused';
  if (status === 400 || status === 409)
    return RACES.includes(code) ? undefined : 'a good request was refused';
  return 'an answer that no good request gets';
}

/** The code of an error body in either of the two formats of the specification, section 7. */
function errorCodeOf({ url, status, answer }: Exchange): string | undefined {
  if (new URL(url).pathname.startsWith('/api/v1/payout-batches')) {
    const { code, message, errorCode, data } = answer;
    const isWhole = code === status && typeof message === 'string' && data === null;
    return isWhole && typeof errorCode === 'string' ? errorCode : undefined;
  }
  const error = answer.error as Record<string, unknown> | undefined;
  const isWhole = typeof error?.type === 'string' && typeof error.message === 'string';
  return isWhole && typeof error?.code === 'string' ? error.code : undefined;
}
