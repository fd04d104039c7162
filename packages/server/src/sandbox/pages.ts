import type { PublicPage } from '../platform/http/pages/index.ts';
import type { SubscriptionDeps } from '../subscriptions/index.ts';
import { type FrontOptions, frontPages } from './front/pages.ts';
import type { SandboxDeps } from './fund.ts';
import { mailPages } from './inbox/mail-pages.ts';
import { inboxPages } from './inbox/pages.ts';
import { liveScriptPage } from './local-pages.ts';
import { payerPages } from './payer-pages.ts';
import { walletPages } from './subscription-wallets.ts';

type Deps = SandboxDeps & SubscriptionDeps;

/** The pages that only sandbox merchants have. @param own the store that the machine's browsers see, where there is one */
export const sandboxPages = (deps: Deps, own: FrontOptions | undefined): PublicPage[] => [
  ...walletPages(deps),
  ...payerPages(deps),
  ...(own === undefined ? [] : ownPages(deps, own)),
];

const ownPages = (deps: Deps, own: FrontOptions): PublicPage[] => [
  ...frontPages(deps, own),
  ...inboxPages(deps, own.owner),
  ...mailPages(deps, own.owner),
  liveScriptPage(),
];
