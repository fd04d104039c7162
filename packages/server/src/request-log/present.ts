import Type, { type Static } from 'typebox';
import { madeAtMs } from '../platform/db/ids/index.ts';
import { isoOf } from '../platform/db/index.ts';
import { encodeId } from '../tenancy/index.ts';
import { CUT } from './redact-exchange.ts';
import type { RequestLogRow } from './tables.ts';

const OrNull = <T extends Parameters<typeof Type.Union>[0][number]>(type: T) =>
  Type.Union([type, Type.Null()]);

/** One request in lists. */
export const LoggedRequestSchema = Type.Object({
  id: Type.String({ description: 'The place in the log; of a request id that the service made, that id.' }),
  at: Type.String({ description: 'When it came, real time, ISO 8601 in UTC.' }),
  request_id: Type.String({ description: 'As X-Request-Id named it.' }),
  merchant: Type.String(),
  store: Type.String(),
  key: Type.String(),
  verified: Type.Boolean({ description: 'The signature was right.' }),
  method: Type.String(),
  route: Type.String(),
  path: Type.String(),
  query: Type.String(),
  status: Type.Integer(),
  duration_ms: Type.Number(),
  error_code: OrNull(Type.String()),
  refusal: OrNull(Type.String()),
  remote_address: Type.String(),
});
export type LoggedRequest = Static<typeof LoggedRequestSchema>;

type Summary = Pick<
  RequestLogRow,
  | 'merchant_id'
  | 'request_id'
  | 'callers_id'
  | 'store_id'
  | 'key_id'
  | 'is_verified'
  | 'method'
  | 'route'
  | 'path'
  | 'query'
  | 'status'
  | 'duration_us'
  | 'error_code'
  | 'refusal'
  | 'remote_address'
>;

export function presentRequest(row: Summary): LoggedRequest {
  const id = `req_${row.request_id.replaceAll('-', '')}`;
  return {
    id,
    at: isoOf(madeAtMs(row.request_id)) ?? '',
    request_id: row.callers_id ?? id,
    merchant: encodeId('merchant', row.merchant_id),
    store: encodeId('store', row.store_id),
    key: encodeId('key', row.key_id),
    verified: row.is_verified,
    method: row.method,
    route: row.route,
    path: row.path,
    query: row.query,
    status: row.status,
    duration_ms: Math.round(row.duration_us / 100) / 10,
    error_code: row.error_code,
    refusal: row.refusal,
    remote_address: row.remote_address,
  };
}

const Body = Type.Object({
  bytes: Type.Integer(),
  text: OrNull(Type.String({ description: 'Without secrets; null where there was none, or a stream.' })),
  is_cut: Type.Boolean(),
});

const Step = Type.Object({
  name: Type.String({ description: 'As the page "Signing a request" lists them.' }),
  ok: Type.Union([Type.Boolean(), Type.Null()], { description: 'Null: the request does not show it.' }),
  reason: Type.String(),
  advice: OrNull(Type.String({ description: 'What to do.' })),
});

/** One request with headers and bodies. */
export const LoggedRequestDetailsSchema = Type.Object({
  ...LoggedRequestSchema.properties,
  request_headers: Type.String({ description: 'Lines of `name: value`.' }),
  request_body: Body,
  answer_body: Body,
  explanation: Type.Union(
    [
      Type.Object({
        summary: Type.String({ description: 'The first step that failed.' }),
        payload: OrNull(
          Type.Object(
            { bytes: Type.Integer(), sha256: Type.String() },
            { description: 'What must be signed.' },
          ),
        ),
        steps: Type.Array(Step),
        signed_payload: OrNull(Type.String({ description: 'Its text, without secrets.' })),
      }),
      Type.Null(),
    ],
    { description: 'Of a refused signature.' },
  ),
});
export type LoggedRequestDetails = Static<typeof LoggedRequestDetailsSchema>;
type Body = Static<typeof Body>;

const bodyOf = (text: string | null, bytes: number): Body => ({
  bytes,
  text,
  // Rows of earlier versions end with an ellipsis.
  is_cut: text !== null && (text.endsWith(CUT) || text.endsWith('…')),
});

const headerIn = (lines: string, name: string) =>
  lines
    .split('\n')
    .find((line) => line.startsWith(`${name}: `))
    ?.slice(name.length + 2);

/** What the server signed: the payload of section 5 of the specification. */
function payloadOf({
  explanation,
  request_headers: headers,
  request_body: body,
}: RequestLogRow): string | null {
  if (explanation === null || explanation.payload === null) return null;
  const [timestamp, nonce] = ['x-service-timestamp', 'x-service-nonce'].map((name) =>
    headerIn(headers, name),
  );
  return `${timestamp ?? ''}.${nonce ?? ''}.${body ?? ''}`;
}

export function presentDetails(row: RequestLogRow): LoggedRequestDetails {
  const { explanation } = row;
  return {
    ...presentRequest(row),
    request_headers: row.request_headers,
    request_body: bodyOf(row.request_body, row.request_bytes),
    answer_body: bodyOf(row.answer_body, row.answer_bytes),
    explanation: explanation && { ...explanation, signed_payload: payloadOf(row) },
  };
}
