import type { Metrics } from '../platform/observability/index.ts';
import type { Platform } from '../platform/platform.ts';
import type { DeliveryOutcome } from './states.ts';

export interface WebhookRequest {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: Buffer;
  /** Endpoints of sandbox merchants may be on loopback networks that the operator allows. */
  sandbox: boolean;
}

/** An answer with the beginning of its body, or the class of failure. */
export type WebhookAnswer =
  | { failure: null; status: number; response: Uint8Array }
  | Extract<DeliveryOutcome, { failure: unknown }>;

export interface WebhookDeps extends Platform {
  /** Posts to merchants' URLs. Never rejects. */
  outbound: { post(request: WebhookRequest): Promise<WebhookAnswer> };
  metrics: Pick<Metrics, 'observe'>;
  /** Seconds of real time after which an endpoint that only fails is disabled. */
  disableAfterSeconds: number;
}
