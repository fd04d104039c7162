import type { RecordedEventType } from '@florin/contract/schemas';
import {
  EVENT_ID_HEADER,
  EVENT_TYPE_HEADER,
  NONCE_HEADER,
  SIGNATURE_HEADER,
  TIMESTAMP_HEADER,
} from '@florin/contract/signing';
import { encodeId } from '../tenancy/index.ts';

const USER_AGENT = 'Service-Webhook/1.0';

/** What an attempt has of its own among its headers. */
export interface Stamp {
  timestamp: string;
  nonce: string;
  signature: string;
}

/** The headers of an attempt: those that are sent, and, with a shortened signature, those that are shown. */
export const headersOf = (
  { eventType, eventId }: { eventType: RecordedEventType; eventId: string },
  { timestamp, nonce, signature }: Stamp,
) => ({
  'Content-Type': 'application/json',
  'User-Agent': USER_AGENT,
  [SIGNATURE_HEADER]: signature,
  [TIMESTAMP_HEADER]: timestamp,
  [NONCE_HEADER]: nonce,
  [EVENT_TYPE_HEADER]: eventType,
  [EVENT_ID_HEADER]: encodeId('event', eventId),
});
