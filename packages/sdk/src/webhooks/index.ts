import { generateTestHeaders } from './test-headers.ts';
import { verify } from './verify.ts';

export type { EventOf, EventType, WebhookEvent } from './events.ts';
export type { TestHeaderOptions } from './test-headers.ts';
export type { VerifyOptions, WebhookHeaders, WebhookRefusal, WebhookSecret } from './verify.ts';
export { WebhookVerificationError } from './verify.ts';

export const webhooks = { verify, generateTestHeaders };
