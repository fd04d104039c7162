import type { InboxEvent } from './inbox.ts';
import type { LiveView } from './live.ts';

/** An event as the front page lists it. Times are ISO 8601 with a `Z`. */
export type FrontEvent = Pick<InboxEvent, 'id' | 'type' | 'resource' | 'createdAt'>;

export interface FrontNetwork {
  name: string;
  /** Its newest block; null where it cannot be read. */
  height: string | null;
}

/** The front page of the sandbox. In English. */
export interface FrontView extends LiveView {
  page: 'front';
  version: string;
  merchant: { name: string; id: string; storeId: string };
  networks: readonly FrontNetwork[];
  /** The shell command that sends a signed request. */
  signedRequest: string;
  /** Where the form of the demo checkout goes. */
  checkoutPath: string;
  inboxPath: string;
  mailsPath: string;
  events: readonly FrontEvent[];
}

/** The front page of an instance with real money, and of a sandbox for callers from elsewhere. In English. */
export interface ServiceView {
  page: 'service';
}
