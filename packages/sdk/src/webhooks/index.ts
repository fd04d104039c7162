import { everyOnce, latestOnly } from './sequence.ts';
import { generateTestHeaders } from './test-headers.ts';
import { verify } from './verify.ts';

export type { EventOf, EventType, WebhookEvent } from './events.ts';
export { MemoryStore } from './memory-store.ts';
export type { GuardedHandler, SequenceStore, Verdict } from './sequence.ts';
export type { TestHeaderOptions } from './test-headers.ts';
export type { VerifyOptions, WebhookHeaders, WebhookRefusal, WebhookSecret } from './verify.ts';
export { WebhookVerificationError } from './verify.ts';

export const webhooks = { verify, latestOnly, everyOnce, generateTestHeaders };
