import { webhooks } from '@florin/sdk';
import type { WebhookDeps } from '../../packages/server/src/webhooks/index.ts';

type Request = Parameters<WebhookDeps['outbound']['post']>[0];
type Answer = Awaited<ReturnType<WebhookDeps['outbound']['post']>>;

export interface Received {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
  eventId: string;
  eventType: string;
  atMs: number;
}

/** A receiver's answer to a request: a status, a failure, or a promise of them. */
export type Behaviour = (received: Received, nth: number) => Answer | number | Promise<Answer | number>;

/** Receivers without a network: they get what would have been sent and answer as the test defines. */
export class Receivers {
  readonly received: Received[] = [];
  readonly #behaviours = new Map<string, Behaviour>();
  #inFlight = new Map<string, number>();
  readonly mostInFlight = new Map<string, number>();

  readonly post = async (request: Request): Promise<Answer> => {
    const { url, headers } = request;
    const received = {
      url,
      headers,
      body: request.body.toString('utf8'),
      eventId: headers['X-Service-Event-ID'] ?? '',
      eventType: headers['X-Service-Event-Type'] ?? '',
      atMs: Date.now(),
    };
    this.received.push(received);
    const now = (this.#inFlight.get(url) ?? 0) + 1;
    this.#inFlight.set(url, now);
    this.mostInFlight.set(url, Math.max(now, this.mostInFlight.get(url) ?? 0));
    try {
      const nth = this.received.filter((one) => one.url === url && one.eventId === received.eventId).length;
      const answer = await (this.#behaviours.get(url)?.(received, nth) ?? 200);
      if (typeof answer !== 'number') return answer;
      return { failure: null, status: answer, response: Buffer.from(`answered ${answer}`) };
    } finally {
      this.#inFlight.set(url, (this.#inFlight.get(url) ?? 1) - 1);
    }
  };

  at(url: string): Received[] {
    return this.received.filter((one) => one.url === url);
  }

  behave(url: string, behaviour: Behaviour): void {
    this.#behaviours.set(url, behaviour);
  }
}

/** Verifies a request by the six steps of the specification. @throws WebhookVerificationError */
export function verified({ body, headers }: Received, secret: string) {
  return webhooks.verify(Buffer.from(body), headers, secret);
}
