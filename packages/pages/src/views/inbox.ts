import type { LiveView } from './live.ts';

/** An attempt of a delivery. Times are ISO 8601 with a `Z`. */
export interface InboxAttempt {
  at: string;
  statusCode: number | null;
  failure: string | null;
  durationMs: number;
  /** The body of the answer. */
  response: string | null;
}

export interface InboxDelivery {
  id: string;
  url: string;
  status: string;
  /** When it is tried next; null where it is not. */
  nextAt: string | null;
  attempts: InboxAttempt[];
}

export interface InboxEvent {
  id: string;
  type: string;
  resource: string;
  sequence: string;
  createdAt: string;
  /** JSON, as it is sent. */
  body: string;
  deliveries: InboxDelivery[];
}

export interface InboxEndpoint {
  id: string;
  url: string;
  types: readonly string[];
  status: 'enabled' | 'disabled';
  disabledReason: string | null;
}

/** The list that the inbox's script renews. */
export interface InboxList {
  endpoints: InboxEndpoint[];
  events: InboxEvent[];
}

/** The webhook inbox of the sandbox. In English. */
export interface InboxView extends InboxList, LiveView {
  page: 'inbox';
}
