import type { CheckoutView } from '../views/checkout.ts';
import type { PageLanguage } from '../views/languages.ts';

const POLL_EVERY_MS = 3_000;
/** A stream that is not open for so long is helped out by asking. */
const STREAM_PATIENCE_MS = 4_000;

interface Follower {
  /** What the server sent by itself. */
  onEvent: (view: CheckoutView) => void;
  /** Asks for the state. Rejects when there is no answer. */
  poll: () => Promise<void>;
  onOffline: (isOffline: boolean) => void;
}

/** The path of a call of the page, relative to its own address. */
export const callOf = (token: string, call: string, language: PageLanguage) =>
  `${token}/${call}?lang=${language}`;

/**
 * Follows the payment: by the server's events, and by asking while there are none, because a proxy swallows them or the
 * server has too many open.
 *
 * @returns ends it
 */
export function follow(
  token: string,
  language: PageLanguage,
  { onEvent, poll, onOffline }: Follower,
): () => void {
  const events = new EventSource(callOf(token, 'events', language));
  let heardAt = performance.now();
  events.addEventListener('page', (event) => {
    heardAt = performance.now();
    onOffline(false);
    onEvent(JSON.parse(event.data));
  });
  const pollIfSilent = () => {
    if (events.readyState === EventSource.OPEN) return;
    if (performance.now() - heardAt < STREAM_PATIENCE_MS) return;
    poll().then(
      () => onOffline(false),
      () => onOffline(true),
    );
  };
  const timer = setInterval(pollIfSilent, POLL_EVERY_MS);
  return () => {
    clearInterval(timer);
    events.close();
  };
}

export async function readState(token: string, language: PageLanguage): Promise<CheckoutView> {
  const answer = await fetch(callOf(token, 'state', language));
  if (!answer.ok) throw new Error(String(answer.status));
  return await answer.json();
}

/** The server refuses a form. */
export class FormRefused extends Error {
  /** The field that is wrong. */
  readonly param: string | undefined;

  constructor(message: string, param: string | undefined) {
    super(message);
    this.param = param;
  }
}

/** Sends a form of the page. @throws FormRefused with the server's words for the payer */
export const sendForm = (url: string, fields: Record<string, string>) => postForm<CheckoutView>(url, fields);

/** As `sendForm`, for calls with another answer. */
export async function postForm<T>(url: string, fields: Record<string, string>): Promise<T> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(fields),
  });
  if (answer.ok) return await answer.json();
  const body: { error?: { message?: string; param?: string } } = await answer.json().catch(() => ({}));
  throw new FormRefused(body.error?.message ?? String(answer.status), body.error?.param);
}
