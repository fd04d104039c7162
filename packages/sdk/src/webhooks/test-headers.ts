import { EVENT_ID_HEADER, EVENT_TYPE_HEADER } from '@florin/contract/signing';
import { freshStamp, type Stamp, signatureHeaders } from '../sign.ts';

export interface TestHeaderOptions extends Partial<Stamp> {
  /** Default the body's own `type`. */
  eventType?: string;
  /** Default the body's own `id`. */
  eventId?: string;
}

/**
 * The headers of a delivery signed with `secret`, for tests of your own receiver.
 *
 * @example
 * ```ts
 * const body = JSON.stringify({ id: 'evt_1', type: 'payment.completed' });
 * const headers = webhooks.generateTestHeaders(body, 'the secret key');
 * ```
 */
export function generateTestHeaders(
  rawBody: Uint8Array | string,
  secret: string,
  options: TestHeaderOptions = {},
): Record<string, string> {
  const body = typeof rawBody === 'string' ? new TextEncoder().encode(rawBody) : rawBody;
  const { eventType, eventId, ...stamp } = options;
  const { type = 'payment.completed', id = 'evt_test' } = namesIn(body);
  return {
    'Content-Type': 'application/json',
    'User-Agent': 'Service-Webhook/1.0',
    [EVENT_TYPE_HEADER]: eventType ?? String(type),
    [EVENT_ID_HEADER]: eventId ?? String(id),
    ...signatureHeaders(secret, body, { ...freshStamp(), ...stamp }),
  };
}

/** Bodies that are no events are signed as well: they are what a receiver has to refuse. */
function namesIn(body: Uint8Array): { type?: unknown; id?: unknown } {
  try {
    return JSON.parse(new TextDecoder().decode(body)) ?? {};
  } catch {
    return {};
  }
}
