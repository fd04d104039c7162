import { newId } from '../platform/db/ids/index.ts';
import type { Exchange } from '../platform/http/exchanges/index.ts';
import { shorten } from '../platform/secrets/index.ts';
import type { KeyOwner } from '../stores/key-owners/index.ts';
import type { RefusalExplanation } from './explain/index.ts';
import { KEPT, KEPT_OF_REFUSED, redactBody, redactHeaders, redactUrl } from './redact-exchange.ts';
import { REFUSALS, type RequestLogRow } from './tables.ts';

/** The largest `integer` of the database: a stream may be open for longer than 35 minutes. */
const DURATION_US_MAX = 2 ** 31 - 1;
const METHOD_LENGTH_MAX = 20;
/** A request id of this service's own making. */
const OWN_ID = /^req_([0-9a-f]{32})$/;

/** The redacted row of an exchange. */
export function rowOf(
  exchange: Exchange,
  owner: KeyOwner,
  explanation: RefusalExplanation | null,
): RequestLogRow {
  const { requestId, answer, body } = exchange;
  const ownId = exchange.isCallersId ? undefined : OWN_ID.exec(requestId)?.[1];
  const kept = exchange.caller === undefined ? KEPT_OF_REFUSED : KEPT;
  const { path, query } = redactUrl(exchange.url, kept);
  const answerBytes = answer === undefined ? 0 : Buffer.byteLength(answer);
  return {
    merchant_id: owner.merchantId,
    request_id: ownId ?? newId(),
    callers_id: ownId === undefined ? requestId : null,
    store_id: owner.storeId,
    key_id: owner.keyId,
    is_verified: exchange.caller !== undefined,
    method: shorten(exchange.method, METHOD_LENGTH_MAX),
    route: exchange.route,
    path,
    query,
    status: exchange.status,
    duration_us: Math.min(Math.round(exchange.seconds * 1e6), DURATION_US_MAX),
    error_code: exchange.errorCode ?? null,
    refusal: REFUSALS.find((known) => known === exchange.refusal) ?? null,
    remote_address: exchange.remoteAddress,
    request_headers: redactHeaders(exchange, kept),
    request_body: body === undefined ? null : redactBody(body, exchange.bodyBytes, kept),
    request_bytes: exchange.bodyBytes,
    answer_body: answer === undefined ? null : redactBody(answer, answerBytes, kept),
    answer_bytes: answerBytes,
    explanation,
  };
}
