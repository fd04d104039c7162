import type { KeyObject } from 'node:crypto';
import type { RecordedEventType } from '@florin/contract/schemas';
import type { MerchantMode } from '../tenancy/index.ts';
import type { WebhookDeps } from './deps.ts';

/** One event that is due to be sent. */
export interface DueDelivery {
  eventId: string;
  eventType: RecordedEventType;
  seriesAttempts: number;
  /** The merchant's clock, Unix seconds. */
  dueAt: number;
  body: Buffer;
}

/** What a run must know of its endpoint, as it was a moment ago. */
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
  /** By due time; those to come included. */
  retries: DueDelivery[];
}

/** What a run has to say about one of its attempts while it lasts. */
export interface Turn {
  /** It follows one that was answered just now: its connection is still open, which it is not for long among thousands. */
  isInRow: boolean;
  /** Asked when its turn has come: whether it is still to be made. */
  mayBegin: () => boolean;
  /** The next one of the endpoint may follow: this one was answered, or takes its time. May be called twice. */
  follow: () => void;
  /** It was acknowledged like those before it: nothing but its record is left, which decides nothing. */
  acknowledged: () => void;
}

export interface Asked {
  endpointId: string;
  storeId: string;
  limit: number;
}

/** What an attempt has changed. */
export interface Attempted {
  failures: number | undefined;
  dueAt: number | undefined;
}

/** Reads what is due to endpoints, and makes attempts, for all runs of a process. */
export interface Sender {
  readonly deps: WebhookDeps;
  /** Begins no more attempts. */
  readonly isStopping: boolean;
  /** Undefined: there is no such endpoint. */
  read(merchantId: string, asked: Asked): Promise<EndpointWork | undefined>;
  /** Undefined: it was not begun any more. */
  attempt(
    merchantId: string,
    work: EndpointWork,
    due: DueDelivery,
    turn: Turn,
  ): Promise<Attempted | undefined>;
}
