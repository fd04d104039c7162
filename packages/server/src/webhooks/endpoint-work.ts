import type { KeyObject } from 'node:crypto';
import type { RecordedEventType } from '@florin/contract/schemas';
import type { MerchantMode } from '../tenancy/settings/index.ts';
import type { WebhookDeps } from './deps.ts';

/** An event that is due for an endpoint. */
export interface DueDelivery {
  eventId: string;
  eventType: RecordedEventType;
  seriesAttempts: number;
  /** The merchant's clock, Unix seconds. */
  dueAt: number;
  body: Buffer;
}

/** An endpoint and its due deliveries, as they were read. */
export interface EndpointWork {
  endpointId: string;
  url: string;
  isEnabled: boolean;
  failures: number;
  mode: MerchantMode;
  /** Seconds that the merchant's clock is ahead. */
  clockOffset: number;
  /** Undefined: the store has no key, so nothing can be signed. */
  secret: KeyObject | undefined;
  firstTries: DueDelivery[];
  /** By due time; includes those that are due later. */
  retries: DueDelivery[];
}

/** How a run follows one of its attempts. */
export interface AttemptHooks {
  /** The attempt before was answered just now, so its connection is still open; among thousands not for long. */
  reusesConnection: boolean;
  /** Called once the attempt has its slot: whether to make it still. */
  mayBegin: () => boolean;
  /** Lets the endpoint's next attempt start: this one was answered, or takes longer than 5 ms. May be called twice. */
  startNext: () => void;
  /** The attempt was acknowledged and only its record is left, which changes nothing of the endpoint. */
  acknowledged: () => void;
}

export interface WorkRequest {
  endpointId: string;
  storeId: string;
  limit: number;
}

/** The endpoint's failures where the attempt changed them, and the delivery's next due time where it is tried again. */
export interface AttemptResult {
  failures: number | undefined;
  dueAt: number | undefined;
}

/** Reads due deliveries and makes attempts for all runs of a process. */
export interface Sender {
  readonly deps: WebhookDeps;
  /** No more attempts are started. */
  readonly isStopping: boolean;
  /** @returns undefined where the endpoint does not exist */
  read(merchantId: string, request: WorkRequest): Promise<EndpointWork | undefined>;
  /** @returns undefined where the attempt was not started because the run is ending */
  attempt(
    merchantId: string,
    work: EndpointWork,
    due: DueDelivery,
    hooks: AttemptHooks,
  ): Promise<AttemptResult | undefined>;
}
