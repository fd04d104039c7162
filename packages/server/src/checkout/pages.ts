import type { PaymentDeps } from '../payments/index.ts';
import type { PublicPage } from '../platform/http/pages/index.ts';
import { paymentLinkPages } from './links/pages.ts';
import { logoPage } from './page/logo.ts';
import { sessionPages } from './page/pages.ts';
import { walletPages } from './wallet/pages.ts';

/** The pages of sessions and of payment links. @param publicUrl the base address of payers' pages */
export const checkoutPages = (deps: PaymentDeps, publicUrl: () => string): PublicPage[] => [
  logoPage(deps),
  ...sessionPages(deps),
  ...walletPages(deps, publicUrl),
  ...paymentLinkPages(deps, publicUrl),
];
