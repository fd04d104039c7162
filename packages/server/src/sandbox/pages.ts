import type { PublicPage } from '../platform/http/index.ts';
import type { SubscriptionDeps } from '../subscriptions/index.ts';
import type { SandboxDeps } from './fund.ts';
import { type InboxOwner, inboxPages } from './inbox/pages.ts';
import { payerPages } from './payer-pages.ts';
import { walletPages } from './subscription-wallets.ts';

/** The pages that only sandbox merchants have. @param inboxOwner the store of the inbox, where there is one */
export const sandboxPages = (
  deps: SandboxDeps & SubscriptionDeps,
  inboxOwner: InboxOwner | undefined,
): PublicPage[] => [
  ...walletPages(deps),
  ...payerPages(deps),
  ...(inboxOwner === undefined ? [] : inboxPages(deps, inboxOwner)),
];
