import { receiver } from './receiver.ts';
import { everyOnce, latestOnly } from './sequence.ts';
import { generateTestHeaders } from './test-headers.ts';
import { verify } from './verify.ts';

export type { WebhookAnswer } from './adapters.ts';
export type { EventOf, EventType, WebhookEvent } from './events.ts';
export { MemoryStore } from './memory-store.ts';
export type { Receiver, ReceiverOptions } from './receiver.ts';
export type { GuardedHandler, Verdict } from './sequence.ts';
export type { SequenceStore } from './sequence-store.ts';
export type { TestHeaderOptions } from './test-headers.ts';
export type { VerifyOptions, WebhookHeaders, WebhookRefusal, WebhookSecret } from './verify.ts';
export { WebhookVerificationError } from './verify.ts';

export const webhooks = { verify, receiver, latestOnly, everyOnce, generateTestHeaders };
