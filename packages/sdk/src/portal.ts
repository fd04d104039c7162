import type { Transport } from './transport.ts';
import type { PortalSession, PortalSessionInput } from './types.ts';

/** The page on which customers see and change their subscriptions. */
export class Portal {
  readonly sessions: PortalSessions;

  constructor(transport: Transport) {
    this.sessions = new PortalSessions(transport);
  }
}

class PortalSessions {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Send the customer to the `url` of the answer. A repeat makes another one, which harms nobody. */
  async create(session: PortalSessionInput): Promise<PortalSession> {
    return this.#transport.send({
      method: 'POST',
      path: '/portal/sessions',
      body: session,
      onDoubt: 'repeat',
    });
  }
}
