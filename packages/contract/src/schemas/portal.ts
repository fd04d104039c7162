import Type, { type Static } from 'typebox';
import { PageUrl } from './checkout.ts';
import { ExternalCustomerId } from './customers.ts';
import { CLOSED, Seconds } from './shared.ts';

export const PortalSessionInput = Type.Object(
  { customer: ExternalCustomerId, return_url: PageUrl('Where the customer may go from the portal.') },
  { ...CLOSED, $id: 'PortalSessionInput' },
);
export type PortalSessionInput = Static<typeof PortalSessionInput>;

export const PortalSession = Type.Object(
  {
    object: Type.Literal('portal_session'),
    url: Type.String({
      description: 'Where the customer sees and changes subscriptions and payment methods.',
    }),
    expires_at: Seconds('Until when it opens'),
  },
  { ...CLOSED, $id: 'PortalSession' },
);
export type PortalSession = Static<typeof PortalSession>;
