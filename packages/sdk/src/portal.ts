import { Resource } from './resource.ts';
import type { Transport } from './transport.ts';
import type { PortalSession, PortalSessionInput } from './types.ts';

/** The page on which customers see and change their subscriptions. */
export class Portal {
  readonly sessions: PortalSessions;

  constructor(transport: Transport) {
    this.sessions = new PortalSessions(transport);
  }
}

class PortalSessions extends Resource {
  /**
   * Send the customer to the `url` of the answer. A retry makes a second session, which does no harm.
   *
   * @example
   * ```ts
   * const { url } = await florin.portal.sessions.create({ customer: 'user-17', return_url: 'https://shop.example' });
   * ```
   */
  async create(session: PortalSessionInput): Promise<PortalSession> {
    return this.post('/portal/sessions', session, 'repeat');
  }
}
